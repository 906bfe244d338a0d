"""The rows of a list of exchanges."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import pairwise
from typing import Any

from django.db.models import F, QuerySet
from django.db.models.functions import Left

from sessions_app.exchange_sums import ShownCost, cost_of
from sessions_app.inspector import formatting
from sessions_app.inspector.content_search import Match
from sessions_app.inspector.exchange_header import BadgeView, end_of, verdict_of
from sessions_app.inspector.lanes import RowLane, lanes_of
from sessions_app.inspector.received import NOTHING_YET, Received, received_by
from sessions_app.inspector.stages import MESSAGE_LENGTH
from sessions_app.models import Exchange, Session
from sessions_app.prompt.chunks import candidates_asked_for
from sessions_app.ribbon import Ribbon, ribbon_of
from sessions_app.wording import outcomes, resends

LONG_PAUSE = timedelta(minutes=5)
"""Idle time after which a provider may have dropped an implicit cache."""

LARGE_COLUMNS = ("manifest", "notes", "stages", "ledger")
"""Deferred: they can be large and the list does not show them."""


@dataclass(frozen=True, slots=True)
class ExchangeRow:
    """One exchange in the list. `pause` is the idle time before it, from `LONG_PAUSE` on."""

    exchange: Exchange
    message: str
    ribbon: Ribbon
    verdict: BadgeView | None
    end: BadgeView
    received: Received
    pause: timedelta | None = None
    match: Match | None = None
    lane: RowLane | None = None
    """None in a chat."""
    candidates: int = 1
    """How many answers a program asked for."""

    @property
    def cost(self) -> ShownCost:
        return cost_of(self.exchange)

    @property
    def candidates_words(self) -> str:
        return outcomes.candidates_asked(self.candidates)

    @property
    def pause_label(self) -> str:
        return f"{span_text(self.pause)} idle before it" if self.pause else ""

    @property
    def repeats(self) -> int | None:
        """The number of the failed exchange that this one sends again."""
        return getattr(self.exchange, "failed_number", None)

    @property
    def repeat_reason(self) -> str:
        if self.repeats is None:
            return ""
        error = getattr(self.exchange, "failed_error", None) or {}
        return resends.reason(error, self.repeats, is_captured=self.exchange.is_captured)

    @property
    def continues(self) -> int | None:
        """The number of the exchange whose answer this one goes on with."""
        return getattr(self.exchange, "continued_number", None)


def with_messages(exchanges: QuerySet[Exchange]) -> QuerySet[Exchange]:
    """Without large columns; with the beginning of the trigger's text, and what a row says of others."""
    return (
        exchanges.defer(*LARGE_COLUMNS)
        .select_related("run")
        .annotate(
            message=Left(F("run__trigger__text"), MESSAGE_LENGTH),
            failed_number=F("resend_of__number"),
            failed_error=F("resend_of__error"),
            continued_number=F("continues__number"),
        )
    )


def rows_of(
    session: Session, exchanges: Sequence[Exchange], matches: Mapping[int, Match] | None = None
) -> list[ExchangeRow]:
    """One more query for the pauses, one for what a program asked, and one where an answer is coming."""
    pauses = pauses_before(session, exchanges)
    candidates = candidates_of(exchanges) if session.is_captured else {}
    received = received_by(one.pk for one in exchanges if one.is_open)
    lanes = lanes_of(session, exchanges)
    return [
        row_of(
            one,
            received.get(one.pk, NOTHING_YET),
            pause=pauses.get(one.number),
            match=(matches or {}).get(one.number),
            lane=lanes.get(one.number),
            candidates=candidates.get(one.pk, 1),
        )
        for one in exchanges
    ]


def row_of(exchange: Exchange, received: Received, **rest: Any) -> ExchangeRow:
    message = formatting.visible(getattr(exchange, "message", "") or "")
    verdict, end = verdict_of(exchange), end_of(exchange, received)
    return ExchangeRow(exchange, message, ribbon_of(exchange), verdict, end, received, **rest)


def candidates_of(exchanges: Iterable[Exchange]) -> dict[int, int]:
    """How many answers each exchange asked for: one query, which reads no whole manifest."""
    rows = Exchange.objects.filter(pk__in=[one.pk for one in exchanges])
    return {pk: candidates_asked_for(told) for pk, told in rows.values_list("pk", "manifest__settings")}


def pauses_before(session: Session, exchanges: Iterable[Exchange]) -> dict[int, timedelta]:
    """Exchange number → the time since the end of the one before it, from `LONG_PAUSE` on."""
    wanted = {one.number for one in exchanges}
    both = wanted | {number - 1 for number in wanted}
    rows = Exchange.objects.filter(session=session, number__in=both).order_by("number")
    times = list(rows.values_list("number", "started_at", "ended_at"))
    pauses = {
        number: started - ended
        for (before, _, ended), (number, started, _) in pairwise(times)
        if number == before + 1 and ended is not None
    }
    return {number: pause for number, pause in pauses.items() if number in wanted and pause >= LONG_PAUSE}


def span_text(span: timedelta) -> str:
    """“6 min”, “2 h 5 min”, “3 days”."""
    minutes = int(span.total_seconds() // 60)
    if minutes < 60:
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    if hours < 48:
        return f"{hours} h {minutes} min" if minutes else f"{hours} h"
    return f"{hours // 24} days"
