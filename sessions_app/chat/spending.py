"""A person's spending by month, as a page and as CSV."""

import csv
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from itertools import groupby
from typing import Self

from django.contrib.auth.decorators import login_required
from django.db.models import Count, OuterRef, Subquery
from django.db.models.functions import Coalesce
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.dateparse import parse_date
from django.views.decorators.http import require_safe

from sessions_app.chat.spending_chart import MonthByCause
from sessions_app.exchange_sums import cost_of_session
from sessions_app.models import Booking, CapturedRequest, Session, Spending
from sessions_app.prompt.pricing import Budget, MoneySource
from sessions_app.runs.budgets import Spender
from sessions_app.spreadsheets import escape_formulas
from sessions_app.wording import costs

SESSION_LIMIT = 10
"""Number of sessions on the page."""

CSV_COLUMNS = (
    "day",
    "model",
    "source",
    "exchanges",
    "unpriced",
    "prompt_tokens",
    "cached_tokens",
    "output_tokens",
    "thought_tokens",
    "usd",
    "caches",
    "cache_usd",
    "storage_usd",
    "cut_off",
    "tool_use_tokens",
    "estimates",
    "unjudged",
)

COSTS = ("spent_usd", "emulated_usd", "unpriced", "cut_off", "estimates")
"""The columns of sessions that `cost_of_session` reads."""


@dataclass(frozen=True, slots=True)
class DaySpending:
    """The bookings of one day, one row per model and source."""

    day: date
    rows: tuple[Spending, ...]

    @property
    def amount(self) -> str:
        return amount_of(self.rows)

    @property
    def priced_rows(self) -> list[tuple[Spending, str]]:
        """Each row with its sum."""
        return [(row, costs.spent(_spent([row]))) for row in self.rows]


@dataclass(frozen=True, slots=True)
class SessionCost:
    """A session with what was paid for it and would have been."""

    session: Session
    cost: str


@dataclass(frozen=True, slots=True)
class SpendingPage:
    """A month of one person; `sessions` are the most expensive existing ones of all time.

    `emulated` is what the emulator's answers would have cost, apart from `paid`. `in_no_sum` counts
    requests of programs (`CapturedRequestQuerySet.in_no_sum`).
    """

    month: date
    days: tuple[DaySpending, ...]
    budgets: tuple[Budget, ...]
    sessions: tuple[SessionCost, ...]
    paid: MonthByCause
    emulated: MonthByCause
    in_no_sum: int

    @classmethod
    def of(cls, owner_id: int | None, month: date) -> Self:
        """Five queries."""
        rows = bookings_of(owner_id, month)
        days = (DaySpending(day, tuple(group)) for day, group in groupby(rows, key=lambda row: row.day))
        budgets = Spender.person(owner_id).budgets() if owner_id is not None else []
        booked = Booking.objects.filter(owner_id=owner_id, day__gte=month, day__lt=next_month(month)).by_day()
        is_emulated = MoneySource.EMULATOR
        return cls(
            month,
            tuple(days),
            tuple(budget for budget in budgets if not budget.is_shared),
            tuple(dearest(owner_id)),
            MonthByCause.of(month, [one for one in booked if one[1] is not is_emulated]),
            MonthByCause.of(month, [one for one in booked if one[1] is is_emulated]),
            _in_no_sum(owner_id, month),
        )

    @property
    def rows(self) -> list[Spending]:
        return [row for day in self.days for row in day.rows]

    @property
    def usd(self) -> Decimal:
        """What was paid."""
        return sum((row.total for row in self.rows if not row.is_emulated), Decimal(0))

    @property
    def emulated_usd(self) -> Decimal:
        """What the emulator's answers would have cost."""
        return sum((row.total for row in self.rows if row.is_emulated), Decimal(0))

    @property
    def amount(self) -> str:
        return amount_of(self.rows)

    @property
    def programs_amount(self) -> str:
        """What programs paid with keys of their own; empty where none did."""
        rows = [row for row in self.rows if row.is_programs]
        return amount_of(rows) if rows else ""

    @property
    def unpriced(self) -> int:
        return sum(row.unpriced for row in self.rows)

    @property
    def cut_off(self) -> int:
        return sum(row.cut_off for row in self.rows)

    @property
    def estimates(self) -> int:
        return sum(row.estimates for row in self.rows)

    @property
    def unjudged(self) -> int:
        """Bookings of earlier versions, which did not keep whether they are estimates."""
        return sum(one.unjudged for month in (self.paid, self.emulated) for one in month.sums)

    @property
    def earlier(self) -> date:
        return (self.month - timedelta(days=1)).replace(day=1)

    @property
    def later(self) -> date | None:
        following = next_month(self.month)
        return following if following <= timezone.now().date() else None


def amount_of(rows: Sequence[Spending]) -> str:
    """What was paid, and what the emulator's answers would have cost."""
    paid, emulated = (_spent([row for row in rows if row.is_emulated is which]) for which in (False, True))
    return costs.spent_by_source(paid, emulated)


def _spent(rows: Sequence[Spending]) -> costs.Spent:
    return costs.Spent(
        sum((row.total for row in rows), Decimal(0)),
        sum(row.unpriced for row in rows),
        sum(row.cut_off for row in rows),
        sum(row.estimates for row in rows),
    )


def dearest(owner_id: int | None) -> Iterator[SessionCost]:
    """The listed chats that cost most; a temporary one is in no list."""
    rows = Session.objects.filter(owner_id=owner_id, deleted_at=None, temporary=False, spent_usd__gt=0)
    named = rows.order_by("-spent_usd").only("public", "title", *COSTS)
    for session in named[:SESSION_LIMIT]:
        yield SessionCost(session, cost_of_session(session))


def bookings_of(owner_id: int | None, month: date) -> Iterable[Spending]:
    return Spending.objects.of(owner_id).filter(day__gte=month, day__lt=next_month(month))


def _in_no_sum(owner_id: int | None, month: date) -> int:
    begin, end = (datetime.combine(day, time.min, UTC) for day in (month, next_month(month)))
    asked = CapturedRequest.objects.filter(received_at__gte=begin, received_at__lt=end)
    return asked.filter(address__owner_id=owner_id).in_no_sum().count()


def next_month(first: date) -> date:
    return (first + timedelta(days=32)).replace(day=1)


def month_of(request: HttpRequest) -> date:
    """The month of the query string (`?month=2026-11`), or the current month."""
    try:
        found = parse_date(request.GET.get("month", "") + "-01")
    except ValueError:
        found = None
    sane = found if found and date(2000, 1, 1) <= found < date(9000, 1, 1) else None
    return sane or timezone.now().date().replace(day=1)


def _unjudged() -> Coalesce:
    """A subquery for a row of days: its bookings of which no row tells whether they are estimates."""
    key = {name: OuterRef(name) for name in ("owner", "day", "model", "source")}
    own = Booking.objects.filter(**key, estimated=None).order_by()
    return Coalesce(Subquery(own.values("day").annotate(count=Count("pk")).values("count")), 0)


@login_required
@require_safe
def spending(request: HttpRequest) -> HttpResponse:
    page = SpendingPage.of(request.user.pk, month_of(request))
    return render(request, "chat/money.html", {"page": page})


@login_required
@require_safe
def spending_csv(request: HttpRequest) -> HttpResponse:
    """All bookings of the person, or those of one month."""
    rows = Spending.objects.of(request.user.pk)
    if "month" in request.GET:
        month = month_of(request)
        rows = rows.filter(day__gte=month, day__lt=next_month(month))
    response = HttpResponse(content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = 'attachment; filename="spending.csv"'
    writer = csv.writer(response)
    writer.writerow(CSV_COLUMNS)
    counted = rows.annotate(unjudged=_unjudged())
    writer.writerows(escape_formulas(row) for row in counted.values_list(*CSV_COLUMNS))
    return response
