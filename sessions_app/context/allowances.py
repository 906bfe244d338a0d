"""What a person may spend, from the rows of the person, the groups, everybody and the installation."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from django.contrib.auth.models import User
from django.db.models.signals import m2m_changed

from sessions_app.context.model_lookup import TimedCache
from sessions_app.models import Allowance

WARN_PERCENT = 80
"""Share of a budget that triggers a warning where no row says another."""


@dataclass(frozen=True, slots=True)
class Amounts:
    """US dollars by UTC day and month, None for any amount."""

    day: Decimal | None = None
    month: Decimal | None = None
    warn_percent: int = WARN_PERCENT
    counts_emulator: bool = False

    def __bool__(self) -> bool:
        """Whether there is any budget."""
        return self.day is not None or self.month is not None


@dataclass(frozen=True, slots=True)
class SpendingRules:
    """What one person may spend, and what all people together may."""

    own: Amounts = Amounts()
    ceiling: Amounts = Amounts()

    def __bool__(self) -> bool:
        return bool(self.own) or bool(self.ceiling)

    @property
    def counts_emulator(self) -> bool:
        """Whether any of its budgets does."""
        return self.own.counts_emulator or self.ceiling.counts_emulator


REMEMBERED_SECONDS = 2.0
"""A change of money in another process is late by so much."""

_rules: TimedCache[SpendingRules] = TimedCache(Allowance, ttl=REMEMBERED_SECONDS)
m2m_changed.connect(_rules.clear_on_change, sender=User.groups.through)


def rules_of(user_id: int) -> SpendingRules:
    """Kept in memory for `REMEMBERED_SECONDS`."""
    return _rules.get(user_id, lambda: merged(Allowance.objects.that_apply_to(user_id)))


def clear_rules() -> None:
    """Allowances are read from the database again."""
    _rules.clear()


def merged(rows: Sequence[Allowance]) -> SpendingRules:
    """The rules of a person to whom these rows apply: of each amount the nearest level that has one."""
    levels = (
        [row for row in rows if row.owner_id is not None],
        [row for row in rows if row.group_id is not None],
        [row for row in rows if row.everybody],
    )
    nearest = next((level for level in levels if level), [])
    own = Amounts(
        day=_first(_largest(row.usd_per_day for row in level) for level in levels),
        month=_first(_largest(row.usd_per_month for row in level) for level in levels),
        warn_percent=min((row.warn_percent for row in nearest), default=WARN_PERCENT),
        counts_emulator=any(row.counts_emulator for row in nearest),
    )
    ceiling = next((row for row in rows if row.is_ceiling), None)
    return SpendingRules(own, _amounts_of(ceiling) if ceiling else Amounts())


def _amounts_of(row: Allowance) -> Amounts:
    return Amounts(row.usd_per_day, row.usd_per_month, row.warn_percent, row.counts_emulator)


def _largest(amounts: Iterable[Decimal | None]) -> Decimal | None:
    return max((amount for amount in amounts if amount is not None), default=None)


def _first(amounts: Iterable[Decimal | None]) -> Decimal | None:
    return next((amount for amount in amounts if amount is not None), None)
