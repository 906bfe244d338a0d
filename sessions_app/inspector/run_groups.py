"""Exchanges under the runs they belong to, and runs that were refused beside them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sessions_app.exchange_sums import ShownCost, cost_of_sums, sums_by_run
from sessions_app.inspector.exchange_rows import ExchangeRow
from sessions_app.inspector.stages import RefusedRun
from sessions_app.models import Exchange, Run


@dataclass(frozen=True, slots=True)
class RunGroup:
    """The rows of one run that are on the page, in the order in which they were sent.

    `sums` are of all exchanges of the run, also of those that a filter or another page has; empty where the
    list is in an order that parts runs.
    """

    run: Run
    rows: tuple[ExchangeRow, ...]
    sums: Mapping[str, Any]

    @property
    def has_heading(self) -> bool:
        """A run of one exchange is told in one line."""
        return bool(self.sums.get("count", 0) > 1)

    @property
    def cost(self) -> ShownCost:
        return cost_of_sums(self.sums)

    @property
    def message(self) -> str:
        return self.rows[0].message

    @property
    def at(self) -> datetime:
        return self.rows[-1].exchange.started_at


ListLine = RunGroup | RefusedRun


def grouped(rows: Sequence[ExchangeRow]) -> list[RunGroup]:
    """Each run where its first row stands: one query. Runs of several agents go on side by side."""
    members: dict[int, list[ExchangeRow]] = {}
    for row in rows:
        members.setdefault(row.exchange.run_id, []).append(row)
    sums = sums_by_run(Exchange.objects.filter(run__in=list(members)))
    found = []
    for run, own in members.items():
        ordered = sorted(own, key=lambda row: row.exchange.number)
        found.append(RunGroup(ordered[0].exchange.run, tuple(ordered), sums.get(run, {})))
    return found


def ungrouped(rows: Iterable[ExchangeRow]) -> list[RunGroup]:
    return [RunGroup(row.exchange.run, (row,), {}) for row in rows]


def interleaved(
    groups: Sequence[RunGroup], refusals: Iterable[RefusedRun], *, newer: datetime | None, is_last: bool
) -> list[ListLine]:
    """Groups and the refused runs of the same period, newest first."""
    oldest = groups[-1].rows[0].exchange.started_at if groups else None
    own = [
        one
        for one in refusals
        if (newer is None or one.at <= newer) and (is_last or oldest is None or one.at > oldest)
    ]
    lines: list[ListLine] = [*groups, *own]
    return sorted(lines, key=lambda line: line.at, reverse=True) if own else lines
