"""The list of a session's exchanges, page by page, and its updates while a run is active."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import Count, F, Q, QuerySet, Sum
from django.db.models.functions import Left

from sessions_app.inspector import formatting
from sessions_app.inspector.content_search import Match, Matches, search
from sessions_app.inspector.exchange_filters import Filters
from sessions_app.inspector.exchange_header import BadgeView, end_of, verdict_of
from sessions_app.inspector.session_cost import session_totals
from sessions_app.inspector.stages import MESSAGE_LENGTH, RefusedRun, refusals_of, refused_runs
from sessions_app.inspector.tabs.base import Tab
from sessions_app.models import Exchange, Run, Session
from sessions_app.ribbon import Ribbon, ribbon_of

PAGE_SIZE = 25

LONG_PAUSE = timedelta(minutes=5)
"""Idle time after which a provider may have dropped an implicit cache."""

LARGE_COLUMNS = ("manifest", "notes", "usage", "stages", "ledger", "money")
"""Deferred: they can be large and the list does not show them."""


@dataclass(frozen=True, slots=True)
class ExchangeRow:
    """One exchange in the list. `pause` is the idle time before it, from `LONG_PAUSE` on."""

    exchange: Exchange
    message: str
    ribbon: Ribbon
    verdict: BadgeView | None
    end: BadgeView
    pause: timedelta | None = None
    match: Match | None = None

    @property
    def pause_label(self) -> str:
        return f"{span_text(self.pause)} idle before it" if self.pause else ""


ListLine = ExchangeRow | RefusedRun


@dataclass(frozen=True, slots=True)
class ExchangeList:
    page: Page[Exchange]
    lines: Sequence[ListLine]
    totals: Mapping[str, Any]
    filters: Filters
    is_cut: bool
    """The search stopped at a limit."""
    active: bool
    """A run is active, so the list will change."""
    refused: int
    """Refused runs of the session, on all pages."""

    @property
    def rows(self) -> list[ExchangeRow]:
        return [line for line in self.lines if isinstance(line, ExchangeRow)]

    @property
    def is_live(self) -> bool:
        return self.filters.is_plain and self.page.number == 1

    @property
    def is_empty(self) -> bool:
        """The page has no table that an update could add a row to."""
        return not self.lines

    @property
    def newest(self) -> int:
        return max((row.exchange.number for row in self.rows), default=0)

    @property
    def open_numbers(self) -> str:
        return ",".join(str(row.exchange.number) for row in self.rows if row.exchange.is_open)


def list_exchanges(session: Session, params: Any) -> ExchangeList:
    """The page that the GET parameters ask for, in a fixed number of queries."""
    exchanges = Exchange.objects.filter(session=session)
    models = list(exchanges.order_by("model").values_list("model", flat=True).distinct())
    filters = Filters(params, models)
    matches = search(session, filters.text) if filters.text else Matches()
    found = filters.apply(exchanges)
    if filters.text:
        found = found.filter(number__in=matches.by_exchange)
    page = Paginator(with_messages(found), PAGE_SIZE).get_page(params.get("page", "1"))
    rows = rows_of(session, list(page), matches.by_exchange)
    refusals = refusals_of(session) if filters.is_plain else []
    return ExchangeList(
        page=page,
        lines=interleaved(rows, refusals, newer=newer_than(page), is_last=not page.has_next()),
        totals=totals_of(found) | session_totals(session),
        filters=filters,
        is_cut=matches.is_cut,
        active=Run.objects.active().filter(session=session).exists(),
        refused=len(refusals),
    )


def with_messages(exchanges: QuerySet[Exchange]) -> QuerySet[Exchange]:
    """Without large columns, with the beginning of the trigger's text."""
    return (
        exchanges.defer(*LARGE_COLUMNS)
        .select_related("run")
        .annotate(message=Left(F("run__trigger__text"), MESSAGE_LENGTH))
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
) -> list[ExchangeRow]:
    """One more query, for the pauses."""
    pauses = pauses_before(session, exchanges)
    return [row_of(one, pauses.get(one.number), (matches or {}).get(one.number)) for one in exchanges]


def row_of(exchange: Exchange, pause: timedelta | None = None, match: Match | None = None) -> ExchangeRow:
    message = formatting.visible(getattr(exchange, "message", "") or "")
    return ExchangeRow(
        exchange, message, ribbon_of(exchange), verdict_of(exchange), end_of(exchange), pause, match
    )


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


def newer_than(page: Page[Exchange]) -> datetime | None:
    """When the last exchange of the previous page began; None on the first page."""
    if page.number == 1 or not page.object_list:
        return None
    first = page.object_list[0]
    later = Exchange.objects.filter(session=first.session_id, number=first.number + 1)
    return later.values_list("started_at", flat=True).first()


def interleaved(
    rows: Sequence[ExchangeRow], refusals: Iterable[RefusedRun], *, newer: datetime | None, is_last: bool
) -> list[ListLine]:
    """Rows and the refused runs of the same period, newest first."""
    oldest = rows[-1].exchange.started_at if rows else None
    own = [
        one
        for one in refusals
        if (newer is None or one.at <= newer) and (is_last or oldest is None or one.at > oldest)
    ]
    lines: list[ListLine] = [*rows, *own]
    return sorted(lines, key=_moment, reverse=True) if own else lines


def _moment(line: ListLine) -> datetime:
    return line.at if isinstance(line, RefusedRun) else line.exchange.started_at


def span_text(span: timedelta) -> str:
    """“6 min”, “2 h 5 min”, “3 days”."""
    minutes = int(span.total_seconds() // 60)
    if minutes < 60:
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    if hours < 48:
        return f"{hours} h {minutes} min" if minutes else f"{hours} h"
    return f"{hours // 24} days"


MAX_UPDATES = 50
"""Rows of one response; a page that missed more reloads."""


@dataclass(frozen=True, slots=True)
class ExchangeUpdates:
    """`fresh` began since the last poll, `changed` were open then. Newest first."""

    fresh: list[ExchangeRow]
    changed: list[ExchangeRow]
    totals: Mapping[str, object]
    newest: int
    refused: int
    active: bool
    is_stale: bool
    """The page has to reload: more changed than rows can show."""
    is_empty: bool
    """The page has no table."""

    @property
    def open_numbers(self) -> str:
        rows = (*self.fresh, *self.changed)
        return ",".join(str(row.exchange.number) for row in rows if row.exchange.is_open)


def updates_of(session: Session, params: Mapping[str, str]) -> ExchangeUpdates:
    """Takes what the page shows: `after` (newest number), `open` (numbers without an end), `refused`
    (how many refused runs) and `empty` (no table). At most seven queries."""
    after, watched = number_in(params.get("after", "")), numbers_in(params.get("open", ""))
    own = Exchange.objects.filter(session=session)
    active = Run.objects.active().filter(session=session).exists()
    found = list(
        with_messages(own.filter(Q(number__gt=after) | Q(number__in=watched))).order_by("-number")[
            : MAX_UPDATES + 1
        ]
    )
    rows = rows_of(session, found) if found else []
    # A refused run has no row to send, so the page reloads once.
    refused = number_in(params.get("refused", ""))
    has_refused = not active and refused_runs(session).count() != refused
    return ExchangeUpdates(
        fresh=[row for row in rows if row.exchange.number > after],
        changed=[row for row in rows if row.exchange.number <= after],
        totals=totals_of(own) | session_totals(session),
        newest=max([after, *(one.number for one in found)]),
        active=active,
        refused=refused,
        is_stale=len(found) > MAX_UPDATES or has_refused or ("empty" in params and bool(found)),
        is_empty="empty" in params,
    )


def number_in(text: str) -> int:
    """0 for anything but digits."""
    return int(text) if text.isdecimal() and len(text) < 10 else 0


def numbers_in(text: str) -> list[int]:
    return [number_in(one) for one in text.split(",")[:MAX_UPDATES] if one]


def still_open(tab: Tab, exchange: Exchange, *, was_open: bool) -> bool:
    """Whether the tab may have changed since the last poll."""
    if tab.refresh == "never" or not was_open:
        return False
    return tab.refresh == "always" or not exchange.is_open
