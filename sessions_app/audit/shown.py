"""Figures as pages compute them, handed to the audit as plain data by its caller."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import NamedTuple


class LedgerLine(NamedTuple):
    """One item of a request: the key of its source, the codes of both columns, its share of the count."""

    source: int
    change: str
    billed: str
    cached: int
    new: int


@dataclass(frozen=True, slots=True)
class ShownLedger:
    """`paid` is the total below the lines; `summed` that of the lines and of what is billed beside them."""

    lines: tuple[LedgerLine, ...]
    paid: Decimal | None
    summed: Decimal | None


class CauseMoney(NamedTuple):
    """What one cause cost: known money, bookings, those of them without a price, of cut-off answers, that are
    estimates, and of which nobody knows whether they are.
    """

    cause: str
    usd: Decimal
    bookings: int
    unpriced: int
    cut_off: int
    estimates: int
    unjudged: int


class Loss(NamedTuple):
    """What was lost under one verdict, of how many requests, and of how many nobody knows it."""

    verdict: str
    exchanges: int
    tokens: int
    usd: Decimal
    unknown: int
    unpriced: int


class SavedBy(NamedTuple):
    """What would have been saved without one cause: of how many requests, and of how many without a price."""

    cause: str
    requests: int
    tokens: int
    usd: Decimal
    unpriced: int


@dataclass(frozen=True, slots=True)
class ShownSession:
    """A session's sums: by cause, by loss, by what would have saved money, and the ledger of each exchange by
    its number. Whether a cache has ended was asked at `at`.
    """

    at: datetime
    causes: tuple[CauseMoney, ...]
    losses: tuple[Loss, ...]
    savings: tuple[SavedBy, ...]
    missed: tuple[SavedBy, ...]
    ledgers: Mapping[int, ShownLedger]


@dataclass(frozen=True, slots=True)
class ShownMonth:
    """The Spending page of one person: paid and emulated money, each also by day and cause."""

    usd: Decimal
    emulated_usd: Decimal
    paid: Mapping[tuple[date, str], CauseMoney]
    emulated: Mapping[tuple[date, str], CauseMoney]
