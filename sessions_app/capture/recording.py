"""Writes what was relayed into rows, and finds out to which session it belongs."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.db import transaction

from sessions_app.capture.grouping import Grouping
from sessions_app.capture.placements import LaneRole, Leaf, Placement, Relation
from sessions_app.capture.records import Begun, Ended, Record
from sessions_app.capture.traits import RequestTraits, strings_in, traits_of
from sessions_app.context.storage import check_storage
from sessions_app.errors import OverLimit, PipewebError
from sessions_app.gemini.event_stream import EventSplitter
from sessions_app.models import Blob, CaptureAddress, CapturedRequest
from sessions_app.models.captured_request import CLIENT_LENGTH, PATH_LENGTH
from sessions_app.models.columns import storable, storable_json
from sessions_app.prompt.reply import Reply, fold

REMEMBERED = 200
"""Requests of an address that are read again when the server was started anew."""

ADDRESSES = 100
"""Whose sessions are kept in memory."""


class Recording:
    """Of one process; used by one thread."""

    def __init__(self) -> None:
        self._groupings: dict[int, Grouping] = {}

    def __call__(self, records: Sequence[Record]) -> None:
        """All or nothing. May be called again with the same records after an error of the database."""
        for record in records:
            if isinstance(record, Begun):
                self._place(record)
        with transaction.atomic():
            for record in records:
                if isinstance(record, Begun):
                    _insert(record)
                else:
                    self._end(record)

    def _place(self, begun: Begun) -> None:
        if not begun.asks_model or begun.place is not None:
            return
        traits = traits_of(begun.body or b"", scope=begun.scope, name=begun.name)
        if traits is None:
            return
        grouping = self._grouping(begun.address)
        begun.place = grouping.place(str(begun.key), begun.received_at.timestamp(), traits)
        if adopted := grouping.leaves.get(begun.place.adopted):
            begun.adopted = (adopted.key, adopted.place)

    def _end(self, ended: Ended) -> None:
        reply = reply_of(ended)
        calls = [list(strings_in(call.args)) for call in reply.calls] if reply else []
        if ended.asks_model:
            has_failed = bool(ended.fault) or ended.status is None or ended.status >= 400
            at = ended.ended_at.timestamp()
            self._grouping(ended.address).end(str(ended.key), at, calls, has_failed=has_failed)
        CapturedRequest.objects.filter(public=ended.key).update(
            calls=storable_json(calls), **_facts_of(ended), **_counts_of(reply)
        )

    def _grouping(self, address: int) -> Grouping:
        found = self._groupings.pop(address, None)
        if found is None:
            found = Grouping()
            found.restore(_remembered(address))
        self._groupings[address] = found
        if len(self._groupings) > ADDRESSES:
            self._groupings.pop(next(iter(self._groupings)))
        return found


def count_missed(missed: Mapping[int, int]) -> None:
    for address, requests in missed.items():
        CaptureAddress.objects.count_missed(address, requests)


def reply_of(ended: Ended) -> Reply | None:
    """What the model answered; None where it did not, or not in a form that can be read."""
    if not ended.asks_model or ended.status != 200 or ended.is_cut:
        return None
    try:
        splitter = EventSplitter()
        events = splitter.feed(ended.body)
        return fold(events)
    except (PipewebError, ValueError):
        return None


def _insert(begun: Begun) -> None:
    """A person without room for it has the request listed as missed."""
    try:
        check_storage(begun.owner, begun.size)
    except OverLimit:
        CaptureAddress.objects.count_missed(begun.address, 1)
        return
    CapturedRequest.objects.get_or_create(public=begun.key, defaults=_row_of(begun))
    if begun.adopted:
        key, adopted = begun.adopted
        CapturedRequest.objects.filter(public=key).update(**_columns_of(adopted))


def _row_of(begun: Begun) -> dict[str, Any]:
    return dict(
        address_id=begun.address,
        received_at=begun.received_at,
        method=begun.method,
        path=storable(begun.path, PATH_LENGTH),
        client=storable(begun.client, CLIENT_LENGTH),
        headers=storable_json(begun.headers),
        scope=storable(begun.scope, CLIENT_LENGTH),
        name=storable(begun.name, 80),
        model=storable(begun.model, 80),
        request_body_id=_stored(begun.owner, begun.body),
        request_size=begun.size,
        key_hash=begun.key_hash,
        uses_server_key=begun.uses_server_key,
        **(_columns_of(begun.place) if begun.place else {}),
    )


def _columns_of(place: Placement) -> dict[str, Any]:
    return {
        "session": place.session,
        "lane": place.lane,
        "relation": place.relation.value,
        "role": place.role.value,
        "before": place.before,
        "shared": place.shared,
        "is_guess": place.is_guess,
    }


def _facts_of(ended: Ended) -> dict[str, Any]:
    body, is_cut = ended.body, ended.is_cut
    try:
        check_storage(ended.owner, len(body))
    except OverLimit:
        body, is_cut = b"", True
    return {
        "status": ended.status,
        "content_type": storable(ended.content_type, 80),
        "response_headers": storable_json(ended.headers),
        "response_body_id": _stored(ended.owner, body) if body else None,
        "response_size": ended.size,
        "request_size": ended.request_size,
        "packets": ended.packets,
        "is_cut": is_cut,
        "fault": ended.fault,
        "first_ms": ended.first_ms,
        "total_ms": ended.total_ms,
        "ended_at": ended.ended_at,
    }


def _counts_of(reply: Reply | None) -> dict[str, Any]:
    if reply is None:
        return {}
    counted = {"finish_reason": storable(reply.finish_reason, 40)}
    if not reply.usage.raw:
        return counted
    usage = reply.usage
    tokens = {"prompt_tokens": usage.prompt, "cached_tokens": usage.cached}
    return counted | tokens | {"output_tokens": usage.output + usage.thoughts}


def _stored(owner: int, body: bytes | None) -> int | None:
    if body is None:
        return None
    return next(iter(Blob.objects.store(owner, [body]).values()))


def _remembered(address: int) -> Iterator[Leaf]:
    """The last requests of an address with the places that they were given."""
    rows = CapturedRequest.objects.filter(address_id=address).exclude(session="")
    for row in reversed(rows.select_related("request_body").order_by("-pk")[:REMEMBERED]):
        body = row.request_body.bytes if row.request_body else b""
        traits = traits_of(body, scope=row.scope, name=row.name)
        if traits is not None:
            yield _leaf(row, traits)


def _leaf(row: CapturedRequest, traits: RequestTraits) -> Leaf:
    place = Placement(
        row.session,
        row.lane,
        Relation(row.relation),
        LaneRole(row.role),
        row.before,
        row.shared,
        row.is_guess,
    )
    ended_at = row.ended_at.timestamp() if row.ended_at else None
    has_failed = bool(row.fault) or (row.ended_at is not None and (row.status or 500) >= 400)
    calls = tuple(tuple(one) for one in row.calls)
    return Leaf(str(row.public), row.received_at.timestamp(), traits, place, calls, ended_at, has_failed)
