"""Budgets: what a session and a person may still spend."""

from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal

from django.db.models import DecimalField, F, OuterRef, Subquery, Sum
from django.db.models.functions import Coalesce
from django.utils import timezone

from sessions_app.models import Allowance, Session, SessionSettings, Spending
from sessions_app.prompt.pricing import dollars

SESSION_WARN_PERCENT = 80
"""A session's own budget warns from here on; a person's says so itself."""

AMOUNT: "DecimalField[Decimal, Decimal]" = DecimalField(max_digits=16, decimal_places=8)


@dataclass(frozen=True, slots=True)
class Budget:
    """One limit in US dollars. `name` says whose it is and for how long, `remedy` who can change it and
    when it begins anew.
    """

    name: str
    limit: Decimal
    spent: Decimal
    warn_percent: int
    remedy: str

    @property
    def left(self) -> Decimal:
        return max(Decimal(0), self.limit - self.spent)

    @property
    def percent(self) -> int:
        """Rounded down, so that 100 means all of it."""
        return int(100 * self.spent / self.limit) if self.limit else 100

    @property
    def is_spent(self) -> bool:
        return self.spent >= self.limit

    @property
    def is_near(self) -> bool:
        return not self.is_spent and self.percent >= self.warn_percent

    @property
    def spent_words(self) -> str:
        return f"{self.name} is spent: {dollars(self.spent)} of {dollars(self.limit)}."

    @property
    def warning(self) -> str:
        return (
            f"{self.percent} % of {self.name[0].lower()}{self.name[1:]} is spent ({dollars(self.left)} left)."
        )


def budgets_of(session: Session, options: SessionSettings, *, is_limited: bool = True) -> list[Budget]:
    """Every budget that a request of this session falls under: one statement.

    `is_limited` is false where it is known that the person has none of their own: that costs nothing.
    """
    found = personal_budgets(session.owner_id) if is_limited else []
    if options.budget_usd is None:
        return found
    remedy = "It does not begin anew: raise it in the session's settings, or go on in a new session."
    limit = Decimal(str(options.budget_usd))
    own = Budget("The budget of this session", limit, session.spent_usd, SESSION_WARN_PERCENT, remedy)
    return [own, *found]


def personal_budgets(owner_id: int) -> list[Budget]:
    """A person's budgets for the day and the month, which follow UTC as the bookings do: one statement."""
    today = timezone.now().date()
    first = today.replace(day=1)
    rows = Allowance.objects.filter(owner_id=owner_id).annotate(
        today=_booked_since(today), this_month=_booked_since(first)
    )
    allowance = rows.first()
    if allowance is None:
        return []
    tomorrow, next_month = today + timedelta(days=1), (first + timedelta(days=32)).replace(day=1)
    limits = (("today", allowance.usd_per_day, tomorrow), ("this_month", allowance.usd_per_month, next_month))
    return [
        Budget(
            f"Your budget for {name.replace('_', ' ')}",
            limit,
            getattr(allowance, name),
            allowance.warn_percent,
            f"It begins anew on {anew.day} {anew:%B} at 00:00 UTC. An administrator can raise it.",
        )
        for name, limit, anew in limits
        if limit is not None
    ]


def _booked_since(day: date) -> Coalesce:
    """The sum over the person's bookings of that day and after, as a column of their allowance."""
    bookings = Spending.objects.filter(owner_id=OuterRef("owner_id"), day__gte=day).order_by()
    amount = F("usd") + F("cache_usd") + F("storage_usd")
    total = bookings.values("owner_id").annotate(booked=Sum(amount)).values("booked")
    return Coalesce(Subquery(total, output_field=AMOUNT), Decimal(0), output_field=AMOUNT)
