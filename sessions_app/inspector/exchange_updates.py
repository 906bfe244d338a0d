"""What changed since an open page asked last: in the list of exchanges, and of one exchange."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.db.models import Q
from django.http import Http404

from sessions_app.inspector.exchange_list import totals_of
from sessions_app.inspector.exchange_rows import rows_of, with_messages
from sessions_app.inspector.list_state import ListState, exchange_state, was_open
from sessions_app.inspector.received import NOTHING_YET, received_by
from sessions_app.inspector.run_groups import RunGroup, grouped
from sessions_app.inspector.session_cost import session_totals
from sessions_app.inspector.stages import refused_runs
from sessions_app.inspector.tabs.base import Tab
from sessions_app.models import Exchange, Run, Session

MAX_ROWS = 50
"""Rows of one response; a page that missed more reloads."""


@dataclass(frozen=True, slots=True)
class ExchangeUpdates:
    """`fresh` are runs that the page does not show yet, `changed` replace what it shows. Newest first."""

    fresh: list[RunGroup]
    changed: list[RunGroup]
    totals: Mapping[str, object]
    state: ListState
    is_stale: bool
    """The page has to reload: a table is missing, or what changed cannot be shown as rows."""


def updates_of(session: Session, seen: ListState) -> ExchangeUpdates | None:
    """None where nothing differs from what the page shows: four queries at most, of no large column."""
    active = Run.objects.active().filter(session=session).exists()
    # While a run goes on, nothing can be refused.
    refused = seen.refused if active else refused_runs(session).count()
    runs = changed_runs(session, seen)
    if not runs and (active, refused) == (seen.active, seen.refused):
        return None
    own = Exchange.objects.filter(session=session)
    found = list(with_messages(own.filter(run__in=runs)).order_by("-number")[:MAX_ROWS]) if runs else []
    groups = grouped(rows_of(session, found)) if found else []
    return ExchangeUpdates(
        fresh=[group for group in groups if _is_new(group, seen)],
        changed=[group for group in groups if not _is_new(group, seen)],
        totals=totals_of(own) | session_totals(session) if groups else {},
        state=_state_after(seen, groups, refused=refused, active=active),
        is_stale=refused != seen.refused or (seen.is_empty and bool(groups)) or _is_too_much(groups, seen),
    )


def _state_after(seen: ListState, groups: list[RunGroup], *, refused: int, active: bool) -> ListState:
    rows = [row for group in groups for row in group.rows]
    shown = {row.exchange.number for row in rows}
    unchanged = {number: chunks for number, chunks in seen.open.items() if number not in shown}
    return ListState(
        newest=max([seen.newest, *shown]),
        open=unchanged | {row.exchange.number: row.received.count for row in rows if row.exchange.is_open},
        refused=refused,
        active=active,
        is_empty=seen.is_empty,
    )


def _is_new(group: RunGroup, seen: ListState) -> bool:
    return group.rows[0].exchange.number > seen.newest


def _is_too_much(groups: list[RunGroup], seen: ListState) -> bool:
    """Whether rows were left out that the page would have to show. Of one long run it shows the newest."""
    is_full = sum(len(group.rows) for group in groups) == MAX_ROWS
    return is_full and (len(groups) > 1 or _is_new(groups[0], seen))


def changed_runs(session: Session, seen: ListState) -> set[int]:
    """Runs with an exchange that is new, has ended or received a chunk since."""
    if session.exchange_count <= seen.newest and not seen.open:
        return set()
    own = Exchange.objects.filter(session=session)
    wanted = own.filter(Q(number__gt=seen.newest) | Q(number__in=seen.open)).order_by()
    rows = list(wanted.values_list("pk", "number", "run", "ended_at"))
    received = received_by(pk for pk, number, _, ended in rows if ended is None and number in seen.open)
    return {
        run
        for pk, number, run, ended in rows
        if number not in seen.open
        or ended is not None
        or received.get(pk, NOTHING_YET).count != seen.open[number]
    }


def state_now(session: Session, number: int) -> str:
    """The state that a page of this exchange has now, of no large column. Raises Http404."""
    rows = Exchange.objects.filter(session=session, number=number)
    row = rows.values_list("pk", "ended_at", "run__status").first()
    if row is None:
        raise Http404
    pk, ended, status = row
    received = received_by([pk] if ended is None else [])
    return exchange_state(
        is_open=ended is None,
        chunks=received.get(pk, NOTHING_YET).count,
        is_active=status in Run.ACTIVE,
        is_newest=number >= session.exchange_count,
    )


def may_differ(tab: Tab, exchange: Exchange, seen: str) -> bool:
    """Whether the tab may have changed since a page was in this state."""
    if tab.refresh == "never" or not was_open(seen):
        return False
    return tab.refresh == "always" or not exchange.is_open
