"""The list of a session's exchanges, page by page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import QuerySet

from sessions_app.exchange_sums import cost_of_sums, sums
from sessions_app.inspector.content_search import Matches, search
from sessions_app.inspector.exchange_filters import Filters
from sessions_app.inspector.exchange_rows import ExchangeRow, rows_of, with_messages
from sessions_app.inspector.list_state import ListState
from sessions_app.inspector.losses import losses_of
from sessions_app.inspector.run_groups import ListLine, RunGroup, grouped, interleaved, ungrouped
from sessions_app.inspector.session_cost import session_totals
from sessions_app.inspector.stages import refusals_of
from sessions_app.inspector.still_lists import StillList
from sessions_app.models import Exchange, Run, Session
from sessions_app.models.answering import other_name

PAGE_SIZE = 50


@dataclass(frozen=True, slots=True)
class ExchangeList:
    page: Page[Exchange]
    lines: Sequence[ListLine]
    totals: Mapping[str, Any]
    filters: Filters
    is_cut: bool
    """The search stopped at a limit."""
    state: ListState
    """What the page shows now; updates are what differs from it."""
    still: StillList | None
    """None where rows are added and replaced; any other list tells how much came since."""

    @property
    def rows(self) -> list[ExchangeRow]:
        return [row for line in self.lines if isinstance(line, RunGroup) for row in line.rows]


def list_exchanges(session: Session, params: Any) -> ExchangeList:
    """The page that the GET parameters ask for, in a fixed number of queries."""
    exchanges = Exchange.objects.filter(session=session)
    filters = Filters(params, models_in(exchanges))
    wanted = page_number(params.get("page", ""))
    # Before the list is read: what comes meanwhile is told as new.
    still = None if filters.is_plain and wanted == 1 else StillList.of(session, filters)
    matches = search(session, filters.text) if filters.text else Matches()
    found = filters.apply(exchanges)
    if filters.text:
        found = found.filter(number__in=matches.by_exchange)
    page, totals = read_page(found, wanted)
    rows = rows_of(session, list(page), matches.by_exchange)
    groups = grouped(rows) if filters.keeps_runs else ungrouped(rows)
    refusals = refusals_of(session) if filters.is_plain else []
    lines = interleaved(groups, refusals, newer=newer_than(page), is_last=not page.has_next())
    return ExchangeList(
        page=page,
        lines=lines,
        totals=totals | session_totals(session),
        filters=filters,
        is_cut=matches.is_cut,
        still=None if filters.is_plain and page.number == 1 else still,
        state=ListState(
            newest=max((row.exchange.number for row in rows), default=0),
            open={row.exchange.number: row.received.count for row in rows if row.exchange.is_open},
            refused=len(refusals),
            active=Run.objects.active().filter(session=session).exists(),
            is_empty=not lines,
        ),
    )


def page_number(typed: str) -> int:
    """What is no number means the first page, as `Paginator.get_page` takes it."""
    try:
        return int(typed)
    except ValueError:
        return 1


def read_page(found: QuerySet[Exchange], wanted: int) -> tuple[Page[Exchange], dict[str, Any]]:
    """A page, the last one where there is no such page, and the sums of all that was found.

    The first page is read before the sums. An exchange that begins or ends in between differs from the page's
    rows then, and the next update brings it with its sums; the other way round it pushes out the last row.
    """
    rows = with_messages(found)
    first = list(rows[:PAGE_SIZE]) if wanted == 1 else None
    totals = totals_of(found)
    paginator = Paginator(rows, PAGE_SIZE)
    vars(paginator)["count"] = totals["count"]  # as the paginator keeps it: one query less
    page = paginator.get_page(wanted)
    if first is not None:
        page.object_list = first
    elif page.number == 1:
        return read_page(found, 1)
    return page, totals


def models_in(exchanges: QuerySet[Exchange]) -> list[str]:
    """The models that were asked, and others that answered."""
    named = exchanges.order_by().values_list("model", "served_model").distinct()
    return sorted({name for asked, served in named for name in (asked, other_name(asked, served)) if name})


def totals_of(exchanges: QuerySet[Exchange]) -> dict[str, Any]:
    """The sums of some exchanges: two queries."""
    counted = exchanges.order_by().aggregate(**sums())
    return {"losses": losses_of(exchanges), "cost": cost_of_sums(counted)} | counted


def newer_than(page: Page[Exchange]) -> datetime | None:
    """When the last exchange of the previous page began; None on the first page."""
    if page.number == 1 or not page.object_list:
        return None
    first = page.object_list[0]
    later = Exchange.objects.filter(session=first.session_id, number=first.number + 1)
    return later.values_list("started_at", flat=True).first()
