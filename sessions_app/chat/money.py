"""What answers cost: the sum at an answer, and a person's page of spending with its CSV."""

import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from itertools import groupby
from typing import Self

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.dateparse import parse_date
from django.views.decorators.http import require_GET

from sessions_app.models import Exchange, Session, Spending
from sessions_app.prompt.pricing import Money, dollars
from sessions_app.runs.budget import Budget, personal_budgets

DEAREST = 10
"""Sessions that the page names."""

COLUMNS = (
    "day",
    "model",
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
)


@dataclass(frozen=True, slots=True)
class AnswerCost:
    """What the requests of one answer cost, as a sum in words."""

    words: str
    notice: str
    """What was to be known about budgets when the last request left."""

    @classmethod
    def of(cls, exchanges: Sequence[Exchange]) -> Self | None:
        """None while nothing was counted."""
        counted = [one for one in exchanges if one.money or one.prompt_tokens]
        if not counted:
            return None
        sums = [Money.restored(one.money) for one in counted]
        return cls(
            words=_sum_words(sums),
            notice=str(counted[-1].money.get("notice", "")),
        )


def _sum_words(sums: Sequence[Money | None]) -> str:
    """The sum; a lower bound where something is missing, and never 0 for what is unknown."""
    known = [money for money in sums if money is not None]
    if not known:
        return "cost unknown"
    total = dollars(sum((money.total for money in known), Decimal(0)))
    if len(known) < len(sums) or any(money.at_least for money in known):
        return f"≥ {total}"
    return f"≈ {total}" if any(money.estimated for money in known) else total


@dataclass(frozen=True, slots=True)
class Day:
    """One day's bookings, a row for each model."""

    day: date
    rows: tuple[Spending, ...]

    @property
    def usd(self) -> Decimal:
        return sum((row.total for row in self.rows), Decimal(0))


@dataclass(frozen=True, slots=True)
class SpendingPage:
    """A month of one person. `sessions` are the dearest of all time that still exist."""

    month: date
    days: tuple[Day, ...]
    budgets: tuple[Budget, ...]
    sessions: tuple[Session, ...]

    @classmethod
    def of(cls, owner_id: int | None, month: date) -> Self:
        """Three statements."""
        rows = bookings_of(owner_id, month)
        days = (Day(day, tuple(group)) for day, group in groupby(rows, key=lambda row: row.day))
        dearest = Session.objects.filter(owner_id=owner_id, deleted_at=None, spent_usd__gt=0)
        named = dearest.order_by("-spent_usd").only("public", "title", "spent_usd")[:DEAREST]
        budgets = personal_budgets(owner_id) if owner_id is not None else []
        return cls(month, tuple(days), tuple(budgets), tuple(named))

    @property
    def rows(self) -> list[Spending]:
        return [row for day in self.days for row in day.rows]

    @property
    def answers_usd(self) -> Decimal:
        return sum((row.usd for row in self.rows), Decimal(0))

    @property
    def caches_usd(self) -> Decimal:
        return sum((row.cache_usd for row in self.rows), Decimal(0))

    @property
    def storage_usd(self) -> Decimal:
        return sum((row.storage_usd for row in self.rows), Decimal(0))

    @property
    def usd(self) -> Decimal:
        return self.answers_usd + self.caches_usd + self.storage_usd

    @property
    def unpriced(self) -> int:
        return sum(row.unpriced for row in self.rows)

    @property
    def earlier(self) -> date:
        return (self.month - timedelta(days=1)).replace(day=1)

    @property
    def later(self) -> date | None:
        following = next_month(self.month)
        return following if following <= timezone.now().date() else None


def bookings_of(owner_id: int | None, month: date) -> Iterable[Spending]:
    return Spending.objects.of(owner_id).filter(day__gte=month, day__lt=next_month(month))


def next_month(first: date) -> date:
    return (first + timedelta(days=32)).replace(day=1)


def asked_month(request: HttpRequest) -> date:
    """The month of the address (`?month=2026-11`); this month where it names none."""
    try:
        found = parse_date(request.GET.get("month", "") + "-01")
    except ValueError:
        found = None
    sane = found if found and date(2000, 1, 1) <= found < date(9000, 1, 1) else None
    return sane or timezone.now().date().replace(day=1)


@login_required
@require_GET
def spending(request: HttpRequest) -> HttpResponse:
    page = SpendingPage.of(request.user.pk, asked_month(request))
    return render(request, "chat/money.html", {"page": page})


@login_required
@require_GET
def spending_csv(request: HttpRequest) -> HttpResponse:
    """Every booking of the person, or those of one month."""
    rows = Spending.objects.of(request.user.pk)
    if "month" in request.GET:
        month = asked_month(request)
        rows = rows.filter(day__gte=month, day__lt=next_month(month))
    response = HttpResponse(content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = 'attachment; filename="spending.csv"'
    writer = csv.writer(response)
    writer.writerow(COLUMNS)
    writer.writerows(safe(row) for row in rows.values_list(*COLUMNS))
    return response


def safe(row: Iterable[object]) -> list[object]:
    """A model's name is a provider's word: a spreadsheet must not run it as a formula."""
    return [f"'{cell}" if isinstance(cell, str) and cell[:1] in "=+-@\t\r" else cell for cell in row]
