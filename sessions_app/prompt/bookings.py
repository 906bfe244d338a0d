"""Why money was spent and who was paid, and what a cache that ends early gives back."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from decimal import ROUND_HALF_EVEN, Decimal
from hashlib import sha256
from typing import Self

from sessions_app.prompt.pricing import SMALLEST, MoneySource
from sessions_app.prompt.stored import Code


class SpendingCause(Code):
    """What a booking paid for. `EARLIER`: an earlier version booked it without session and cause."""

    ANSWER = "answer"
    RETRY = "retry"
    TITLE = "title"
    SUMMARY = "summary"
    CACHE_MADE = "cache_made"
    CACHE_KEPT = "cache_kept"
    EARLIER = "earlier"
    UNKNOWN = "unknown"


OF_CACHES = frozenset({SpendingCause.CACHE_MADE, SpendingCause.CACHE_KEPT})
"""The causes that are no request to the model."""


def answer_key(source: MoneySource, response_id: str, request: str, began: datetime) -> str:
    """By which an answer is known again where its request stands in two imported files.

    A provider gives an id once. The emulator gives those of one start again in the next, and some answers
    have none: these are known by the sha256 of their request and its beginning.
    """
    has_id = response_id and source is not MoneySource.EMULATOR
    known = f"id {response_id}" if has_id else f"request {request} {began.astimezone(UTC).isoformat()}"
    return sha256(known.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class CauseSum:
    """What was booked for one cause. `unpriced` bookings are not in `usd`; those of answers that were
    `cut_off` are in it with what was counted by then. `estimates` are in it as well; of `unjudged` ones
    an earlier version did not keep whether they are estimates.
    """

    cause: SpendingCause
    usd: Decimal
    bookings: int
    unpriced: int = 0
    cut_off: int = 0
    estimates: int = 0
    unjudged: int = 0

    def plus(self, other: Self) -> Self:
        return replace(
            self,
            usd=self.usd + other.usd,
            bookings=self.bookings + other.bookings,
            unpriced=self.unpriced + other.unpriced,
            cut_off=self.cut_off + other.cut_off,
            estimates=self.estimates + other.estimates,
            unjudged=self.unjudged + other.unjudged,
        )


@dataclass(frozen=True, slots=True)
class StorageBooking:
    """Storage of a cache for some time, paid ahead; negative where it was given back.

    `usd` is None when the price is unknown.
    """

    key: int
    seconds: float
    usd: Decimal | None


def refunds(booked: Sequence[StorageBooking], seconds: float) -> tuple[list[StorageBooking], float]:
    """What a cache gives back that ends `seconds` early, by booking, and the seconds that nobody booked.

    `booked` is everything about this cache, oldest first. The time that was paid last is given back first,
    at what was paid for it then.
    """
    paid: list[StorageBooking] = []
    for one in booked:
        if one.seconds < 0:
            _take(paid, -one.seconds)
        else:
            paid.append(one)
    return _take(paid, seconds)


def _take(paid: list[StorageBooking], seconds: float) -> tuple[list[StorageBooking], float]:
    """Removes time from the end of `paid`; returns what was removed, and what was not there."""
    taken = []
    while seconds > 0 and paid:
        last = paid.pop()
        part = min(last.seconds, seconds)
        rest = last.seconds - part
        left = None if last.usd is None else _share(last.usd, rest, last.seconds)
        taken.append(StorageBooking(last.key, -part, None if last.usd is None else (left or 0) - last.usd))
        if rest > 0:
            paid.append(replace(last, seconds=rest, usd=left))
        seconds -= part
    return taken, max(seconds, 0.0)


def _share(usd: Decimal, rest: float, seconds: float) -> Decimal:
    """The price of the rest; nothing where nothing is left, so that all is given back to the last digit."""
    if rest <= 0:
        return Decimal(0)
    return (usd * Decimal(rest) / Decimal(seconds)).quantize(SMALLEST, ROUND_HALF_EVEN)
