"""Writes what was relayed into rows, and finds out to which session it belongs."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from django.db import transaction

from sessions_app.capture.captured_answer import end_exchange
from sessions_app.capture.captured_exchange import begin_exchange, route_of_captured
from sessions_app.capture.captured_history import RememberedHistories
from sessions_app.capture.client_caches import note_cache_request
from sessions_app.capture.framing import chunks_of
from sessions_app.capture.known_groupings import KnownGroupings, has_failed, placing_traits
from sessions_app.capture.other_forms import facts_of_answer, token_columns
from sessions_app.capture.placements import Placement
from sessions_app.capture.records import Begun, Ended, Record
from sessions_app.capture.regrouping import columns_of, take_in
from sessions_app.capture.traits import answer_signatures, strings_in
from sessions_app.context.storage import check_storage
from sessions_app.errors import OverLimit
from sessions_app.models import Blob, CaptureAddress, CapturedRequest, Reservation
from sessions_app.models.captured_request import CLIENT_LENGTH, MODEL_LENGTH, PATH_LENGTH
from sessions_app.models.columns import storable, storable_json
from sessions_app.prompt.reply import Folder, Reply


class Recording:
    """One per process; used by one thread."""

    def __init__(self) -> None:
        self._groupings = KnownGroupings()
        self._histories = RememberedHistories()

    def __call__(self, records: Sequence[Record]) -> None:
        """All or nothing. May be called again with the same records after an error of the database."""
        try:
            with transaction.atomic():
                for address in sorted({record.address for record in records}):
                    changed = self._groupings.refresh(address)
                    if changed.is_regrouped:
                        self._histories.forget()
                    elif changed.has_others:
                        self._histories.forget_answers()
                for record in records:
                    if isinstance(record, Begun):
                        self._begin(record)
                    else:
                        self._end(record)
        except BaseException:
            # What was remembered may be of rows that are gone.
            self._histories.forget()
            self._groupings.forget()
            raise

    def _begin(self, begun: Begun) -> None:
        """A person without room for it has the request listed as missed."""
        if CapturedRequest.objects.filter(public=begun.key).exists():
            return
        if begun.uses_server_key:
            CaptureAddress.objects.log_server_key(begun.address, begun.owner)
        try:
            check_storage(begun.owner, begun.size)
        except OverLimit:
            CaptureAddress.objects.count_missed(begun.address, 1)
            return
        place = self._place(begun)
        captured = CapturedRequest.objects.create(**_row_of(begun, place))
        exchange = None
        if place is not None:
            exchange = begin_exchange(captured, begun.body or b"", self._histories, begun.base_url)
        if exchange is None:
            body = _stored(begun.owner, begun.body)
            CapturedRequest.objects.filter(pk=captured.pk).update(request_body=body)

    def _place(self, begun: Begun) -> Placement | None:
        """None for what belongs to no session. A request that is taken in has another place from then on."""
        if not begun.asks_model:
            return None
        body = begun.body or b""
        traits = placing_traits(body, owner_id=begun.owner, scope=begun.scope, name=begun.name)
        if traits is None:
            return None
        known = self._groupings.of(begun.address)
        place = known.grouping.place(str(begun.key), begun.received_at.timestamp(), traits)
        known.own.add(begun.key)
        if adopted := known.grouping.leaves.get(place.adopted):
            take_in(begun.address, adopted.key, adopted.place, self._histories)
        return place

    def _end(self, ended: Ended) -> None:
        """What was reserved for it is released with what it cost."""
        if ended.reservation is not None:
            Reservation.objects.filter(pk=ended.reservation).delete()
        captured = CapturedRequest.objects.filter(public=ended.key).first()
        if captured is None or not captured.is_open:
            return
        body, facts = _facts_of(ended)
        reply = reply_of(ended)
        whole = None if ended.is_cut else reply
        calls = [list(strings_in(call.args)) for call in whole.calls] if whole else []
        rows = CapturedRequest.objects.filter(pk=captured.pk)
        rows.update(calls=storable_json(calls), **facts, **_counts_of(reply))
        captured = rows.select_related("address", "exchange__session", "exchange__run__session").get()
        at = ended.ended_at.timestamp()
        grouping = self._groupings.of(ended.address).grouping
        text, token = (whole.text, whole.continuation_token) if whole else ("", "")
        grouping.end(
            str(ended.key),
            at,
            calls,
            text=text,
            token=token,
            signatures=answer_signatures(whole.wire if whole else None),
            has_failed=has_failed(captured),
        )
        if captured.exchange is not None:
            end_exchange(captured, body, self._histories)
        else:
            counted = facts_of_answer(captured, ended.body) if ended.status == 200 else {}
            rows.update(response_body=_stored(ended.owner, body) if body else None, **counted)
            base_url = ended.base_url or captured.address.base_url
            note_cache_request(captured, route_of_captured(captured, base_url), base_url, body)


def count_missed(missed: Mapping[int, int]) -> None:
    for address, requests in missed.items():
        CaptureAddress.objects.count_missed(address, requests)


def reply_of(ended: Ended) -> Reply | None:
    """What the model answered, as its exchange has it; None where it did not."""
    if not ended.asks_model or ended.status != 200:
        return None
    folder = Folder()
    for chunk in chunks_of(ended.body).chunks:
        with suppress(ValueError):
            folder.add(chunk)
    return folder.reply()


def _row_of(begun: Begun, place: Placement | None) -> dict[str, Any]:
    return dict(
        public=begun.key,
        address_id=begun.address,
        received_at=begun.received_at,
        method=begun.method,
        path=storable(begun.path, PATH_LENGTH),
        client=storable(begun.client, CLIENT_LENGTH),
        headers=storable_json(begun.headers),
        scope=storable(begun.scope, CLIENT_LENGTH),
        name=storable(begun.name, 80),
        model=storable(begun.model, MODEL_LENGTH),
        request_size=begun.size,
        **(columns_of(place) if place else {}),
        key_hash=begun.key_hash,
        uses_server_key=begun.uses_server_key,
    )


def _facts_of(ended: Ended) -> tuple[bytes, dict[str, Any]]:
    """What is kept of the answer, and the columns. Without room for the answer, only its figures."""
    body, is_cut = ended.body, ended.is_cut
    try:
        check_storage(ended.owner, len(body))
    except OverLimit:
        body, is_cut = b"", True
    return body, {
        "status": ended.status,
        "content_type": storable(ended.content_type, 80),
        "response_headers": storable_json(ended.headers),
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
    return {"finish_reason": storable(reply.finish_reason, 40)} | token_columns(reply.usage)


def _stored(owner: int, body: bytes | None) -> int | None:
    if body is None:
        return None
    return next(iter(Blob.objects.store(owner, [body]).values()))
