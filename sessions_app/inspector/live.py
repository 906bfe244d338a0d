"""What an open page asks for while a run goes on: the few rows that changed, never the page."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.db.models import Q

from sessions_app.inspector.listing import Row, listed, rows_of, totals_of
from sessions_app.inspector.refusals import refused_runs
from sessions_app.inspector.tabs.base import Tab
from sessions_app.models import Exchange, Run, Session

NEW = 50
"""Rows that one answer brings; a page that slept longer is told to load itself again."""


@dataclass(frozen=True, slots=True)
class News:
    """`fresh` were begun since the page last asked, `changed` were open then. Newest first."""

    fresh: list[Row]
    changed: list[Row]
    totals: Mapping[str, object]
    newest: int
    refused: int
    active: bool
    is_stale: bool
    """More happened than rows can tell: the page has to be loaded again."""
    is_bare: bool
    """The page has no table yet."""

    @property
    def open_numbers(self) -> str:
        rows = (*self.fresh, *self.changed)
        return ",".join(str(row.exchange.number) for row in rows if row.exchange.is_open)


def news_of(session: Session, asked: Mapping[str, str]) -> News:
    """`asked` says what the page shows: `after` the newest number, `open` the numbers without an end,
    `refused` how many refusals, `empty` that it has no table yet. At most six queries."""
    after, watched = number_in(asked.get("after", "")), numbers_in(asked.get("open", ""))
    own = Exchange.objects.filter(session=session)
    active = Run.objects.active().filter(session=session).exists()
    found = list(
        listed(own.filter(Q(number__gt=after) | Q(number__in=watched))).order_by("-number")[: NEW + 1]
    )
    rows = rows_of(session, found) if found else []
    # A refusal has no row that could be brought: the page loads itself again, once.
    refused = number_in(asked.get("refused", ""))
    has_refused = not active and refused_runs(session).count() != refused
    return News(
        fresh=[row for row in rows if row.exchange.number > after],
        changed=[row for row in rows if row.exchange.number <= after],
        totals=totals_of(own),
        newest=max([after, *(one.number for one in found)]),
        active=active,
        refused=refused,
        is_stale=len(found) > NEW or has_refused or ("empty" in asked and bool(found)),
        is_bare="empty" in asked,
    )


def number_in(text: str) -> int:
    """0 for what is no number of ours."""
    return int(text) if text.isdecimal() and len(text) < 10 else 0


def numbers_in(text: str) -> list[int]:
    return [number_in(one) for one in text.split(",")[:NEW] if one]


def still_open(tab: Tab, exchange: Exchange, *, was_open: bool) -> bool:
    """Whether the tab may show something else than it did when the page last asked."""
    if tab.follows == "never" or not was_open:
        return False
    return tab.follows == "always" or not exchange.is_open
