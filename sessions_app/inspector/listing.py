"""The list of a session's exchanges: what passes the filters, page by page, in a fixed number of queries."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import Count, F, QuerySet, Sum
from django.db.models.functions import Left

from sessions_app.inspector import texts
from sessions_app.inspector.filters import Filters
from sessions_app.inspector.findings import Finding, end_of, verdict_of
from sessions_app.inspector.refusals import QUOTED, Refusal, refusals_of
from sessions_app.inspector.search import Match, Matches, search
from sessions_app.models import Exchange, Run, Session
from sessions_app.ribbon import Ribbon, ribbon_of

PAGE = 25

LONG_PAUSE = timedelta(minutes=5)
"""Idle time after which a provider may have dropped an implicit cache."""

BODIES = ("manifest", "notes", "usage", "stages", "break_line", "ledger", "money")
"""Columns that can be large and that a list does not need."""


@dataclass(frozen=True, slots=True)
class Row:
    """One exchange in the list. `pause` is the idle time before it, when that is worth a mark."""

    exchange: Exchange
    asked: str
    ribbon: Ribbon
    verdict: Finding | None
    end: Finding
    pause: timedelta | None = None
    match: Match | None = None

    @property
    def pause_words(self) -> str:
        return f"{hours_words(self.pause)} idle before it" if self.pause else ""


Line = Row | Refusal


@dataclass(frozen=True, slots=True)
class Listing:
    """One page of the list."""

    page: Page[Exchange]
    lines: Sequence[Line]
    totals: Mapping[str, Any]
    filters: Filters
    is_cut: bool
    """The search did not look through everything."""
    active: bool
    """A run goes on: the list will change."""
    refused: int
    """Refusals of the whole session, on whatever page they stand."""

    @property
    def rows(self) -> list[Row]:
        return [line for line in self.lines if isinstance(line, Row)]

    @property
    def is_live(self) -> bool:
        return self.filters.is_plain and self.page.number == 1

    @property
    def is_bare(self) -> bool:
        """Nothing is shown, so there is no table that a new row could come into."""
        return not self.lines

    @property
    def newest(self) -> int:
        return max((row.exchange.number for row in self.rows), default=0)

    @property
    def open_numbers(self) -> str:
        return ",".join(str(row.exchange.number) for row in self.rows if row.exchange.is_open)


def list_exchanges(session: Session, asked: Any) -> Listing:
    """The page that the GET parameters `asked` name."""
    exchanges = Exchange.objects.filter(session=session)
    models = list(exchanges.order_by("model").values_list("model", flat=True).distinct())
    filters = Filters(asked, models)
    matches = search(session, filters.words) if filters.words else Matches()
    found = filters.apply(exchanges)
    if filters.words:
        found = found.filter(number__in=matches.by_exchange)
    page = Paginator(listed(found), PAGE).get_page(asked.get("page", "1"))
    rows = rows_of(session, list(page), matches.by_exchange)
    refusals = refusals_of(session) if filters.is_plain else []
    return Listing(
        page=page,
        lines=interleaved(rows, refusals, newer=newer_than(page), is_last=not page.has_next()),
        totals=totals_of(found),
        filters=filters,
        is_cut=matches.is_cut,
        active=Run.objects.active().filter(session=session).exists(),
        refused=len(refusals),
    )


def listed(exchanges: QuerySet[Exchange]) -> QuerySet[Exchange]:
    """Without bodies, with the beginning of the message."""
    return (
        exchanges.defer(*BODIES).select_related("run").annotate(asked=Left(F("run__trigger__text"), QUOTED))
    )


def totals_of(exchanges: QuerySet[Exchange]) -> dict[str, Any]:
    return exchanges.order_by().aggregate(
        count=Count("pk"),
        prompt=Sum("prompt_tokens"),
        cached=Sum("cached_tokens"),
        output=Sum("output_tokens"),
        thoughts=Sum("thought_tokens"),
        spent=Sum("usd"),
        priced=Count("usd"),
    )


def rows_of(
    session: Session, exchanges: Sequence[Exchange], matches: Mapping[int, Match] | None = None
) -> list[Row]:
    """One query more, for the ends of the exchanges before those of the page."""
    pauses = pauses_before(session, exchanges)
    return [row_of(one, pauses.get(one.number), (matches or {}).get(one.number)) for one in exchanges]


def row_of(exchange: Exchange, pause: timedelta | None = None, match: Match | None = None) -> Row:
    asked = texts.visible(getattr(exchange, "asked", "") or "")
    return Row(exchange, asked, ribbon_of(exchange), verdict_of(exchange), end_of(exchange), pause, match)


def pauses_before(session: Session, exchanges: Iterable[Exchange]) -> dict[int, timedelta]:
    """Exchange number → the time since the end of the one before it, where that is long."""
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


def newer_than(page: Page[Exchange]) -> datetime | None:
    """When the last exchange of the page before this one began; None on the first page."""
    if page.number == 1 or not page.object_list:
        return None
    first = page.object_list[0]
    later = Exchange.objects.filter(session=first.session_id, number=first.number + 1)
    return later.values_list("started_at", flat=True).first()


def interleaved(
    rows: Sequence[Row], refusals: Iterable[Refusal], *, newer: datetime | None, is_last: bool
) -> list[Line]:
    """Rows and the refusals of the page's time, newest first."""
    oldest = rows[-1].exchange.started_at if rows else None
    own = [
        one
        for one in refusals
        if (newer is None or one.at <= newer) and (is_last or oldest is None or one.at > oldest)
    ]
    lines: list[Line] = [*rows, *own]
    return sorted(lines, key=_moment, reverse=True) if own else lines


def _moment(line: Line) -> datetime:
    return line.at if isinstance(line, Refusal) else line.exchange.started_at


def hours_words(span: timedelta) -> str:
    """“6 min”, “2 h 5 min”, “3 days”."""
    minutes = int(span.total_seconds() // 60)
    if minutes < 60:
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    if hours < 48:
        return f"{hours} h {minutes} min" if minutes else f"{hours} h"
    return f"{hours // 24} days"
