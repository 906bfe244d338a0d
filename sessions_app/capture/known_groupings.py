"""What the recorder knows of each address to place its next request: the leaves of its lanes.

Rows are the truth. Each batch reads what other processes wrote in between, and all again where a person has
changed sessions.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple
from uuid import UUID

from django.db.models import QuerySet

from sessions_app.capture.client_caches import making_of
from sessions_app.capture.grouping import Grouping
from sessions_app.capture.placements import LaneRole, Leaf, Placement, Relation
from sessions_app.capture.traits import (
    RequestTraits,
    answer_signatures,
    behind,
    text_hash,
    token_hash,
    traits_of,
)
from sessions_app.models import CaptureAddress, CapturedRequest, Turn
from sessions_app.prompt.outcomes import CONTINUATION
from sessions_app.runs.reply_facts import fold_hops

REMEMBERED = 200
"""Requests of an address that are read when nothing is known of it."""

ADDRESSES = 100
"""The most addresses whose sessions are kept in memory."""

HeldBy = Callable[[str, int], RequestTraits | None]
"""The name of a cache and a person's key → what it holds (`traits_held`)."""


@dataclass
class KnownGrouping:
    """`newest` is the key of the last row that was read; `regroupings` those of the address then."""

    grouping: Grouping = field(default_factory=Grouping)
    newest: int = 0
    regroupings: int = -1
    own: set[UUID] = field(default_factory=set)
    """Requests that this process has placed."""


class Refreshed(NamedTuple):
    """What else has changed since the last batch: a person regrouped, another process wrote rows."""

    is_regrouped: bool
    has_others: bool


class Answer(NamedTuple):
    """What an answer is recognised by when it comes back."""

    text: str
    signatures: frozenset[str]


NO_ANSWER = Answer("", frozenset())


class KnownGroupings:
    """The known groupings by address. Used by one thread."""

    def __init__(self) -> None:
        self._known: OrderedDict[int, KnownGrouping] = OrderedDict()

    def of(self, address: int) -> KnownGrouping:
        """As it was when it was last brought up to date."""
        known = self._known.pop(address, None) or KnownGrouping()
        self._known[address] = known
        if len(self._known) > ADDRESSES:
            self._known.popitem(last=False)
        return known

    def refresh(self, address: int) -> Refreshed:
        """Takes in the rows of other processes; locks the address, so that requests are placed one by one.

        Must run in a transaction.
        """
        rows = CaptureAddress.objects.select_for_update(of=("self",), no_key=True).filter(pk=address)
        regroupings = rows.values_list("regroupings", flat=True).first() or 0
        is_regrouped = self.of(address).regroupings not in (regroupings, -1)
        if is_regrouped:
            del self._known[address]
        known = self.of(address)
        is_new, known.regroupings = known.regroupings < 0, regroupings
        placed = CapturedRequest.objects.filter(address=address).exclude(session="")
        later = placed.filter(pk__gt=known.newest).select_related("request_body", "exchange", "address")
        found = list(reversed(later.order_by("-pk")[:REMEMBERED]))
        others = [row for row in found if row.public not in known.own]
        ended = 0 if is_new else self._end_others(known, placed)
        if others and not is_new:
            self._place_again(known, placed)
        known.grouping.restore(_leaves(others))
        known.newest = max((row.pk for row in found), default=known.newest)
        known.own = {key for key in known.own if str(key) in known.grouping.leaves}
        return Refreshed(is_regrouped, bool(others or ended))

    def forget(self) -> None:
        self._known.clear()

    def _end_others(self, known: KnownGrouping, placed: QuerySet[CapturedRequest]) -> int:
        """How requests ended that another process relays; returns how many did."""
        leaves = known.grouping.leaves
        open_ones = [key for key, leaf in leaves.items() if leaf.ended_at is None]
        others = [key for key in open_ones if UUID(key) not in known.own]
        ended = list(placed.filter(public__in=others, ended_at__isnull=False)) if others else []
        answers = _answers(ended)
        for row in ended:
            at = row.ended_at.timestamp() if row.ended_at else 0.0
            answer = answers.get(row.exchange_id, NO_ANSWER)
            known.grouping.end(
                str(row.public),
                at,
                row.calls,
                text=answer.text,
                token=_token_of(row),
                signatures=answer.signatures,
                has_failed=has_failed(row),
            )
        return len(ended)

    def _place_again(self, known: KnownGrouping, placed: QuerySet[CapturedRequest]) -> None:
        """Another process may have taken in one of them as a side call of what it placed."""
        leaves = known.grouping.leaves
        columns = "public", "session", "lane", "relation", "role", "before", "shared", "is_guess"
        for row in placed.filter(public__in=list(leaves)).only(*columns):
            leaves[str(row.public)].place = _place_of(row)


def traits_held(name: str, owner_id: int) -> RequestTraits | None:
    """The traits of what a cache of this person's programs holds. A query; reads the body that created it."""
    return traits_of(making_of(name, owner_id))


def placing_traits(
    body: bytes, *, owner_id: int, scope: str, name: str, held_by: HeldBy = traits_held
) -> RequestTraits | None:
    """`traits_of`, with the conversation that a cache of this person's programs holds before it."""
    traits = traits_of(body, scope=scope, name=name)
    if traits is None or not traits.cache:
        return traits
    held = held_by(traits.cache, owner_id)
    return behind(held, traits) if held else traits


def has_failed(row: CapturedRequest) -> bool:
    return bool(row.fault) or (row.ended_at is not None and (row.status or 500) >= 400)


def _answers(rows: Iterable[CapturedRequest]) -> dict[int | None, Answer]:
    """The answers of these requests, by the primary keys of their exchanges."""
    exchanges = [row.exchange_id for row in rows if row.exchange_id]
    turns = Turn.objects.filter(exchange__in=exchanges) if exchanges else Turn.objects.none()
    found = turns.order_by("pk").select_related("content")
    return {turn.exchange_id: Answer(turn.text, answer_signatures(turn.content.bytes)) for turn in found}


def _token_of(row: CapturedRequest) -> str:
    """The token of an answer that was paused: a query for such a one."""
    is_paused = row.finish_reason == CONTINUATION and row.exchange is not None
    return fold_hops(row.exchange).continuation_token if is_paused and row.exchange else ""


def _leaves(rows: Sequence[CapturedRequest]) -> Iterator[Leaf]:
    answers, held_by = _answers(rows), cache(traits_held)
    for row in rows:
        owner_id, scope, name = row.address.owner_id, row.scope, row.name
        traits = placing_traits(row.sent_body(), owner_id=owner_id, scope=scope, name=name, held_by=held_by)
        if traits is not None:
            ended_at = row.ended_at.timestamp() if row.ended_at else None
            calls = tuple(tuple(one) for one in row.calls)
            key, at = str(row.public), row.received_at.timestamp()
            answer, token = answers.get(row.exchange_id, NO_ANSWER), token_hash(_token_of(row))
            yield Leaf(
                key,
                at,
                traits,
                _place_of(row),
                calls,
                ended_at,
                has_failed(row),
                text_hash(answer.text),
                token,
                given=answer.signatures,
            )


def _place_of(row: CapturedRequest) -> Placement:
    return Placement(
        row.session,
        row.lane,
        Relation(row.relation),
        LaneRole(row.role),
        row.before,
        row.shared,
        row.is_guess,
    )
