"""What keeps one person from taking the time of the others: rates, and one place at a time for each."""

import asyncio
from collections.abc import Hashable
from time import monotonic
from weakref import WeakValueDictionary


class Rate:
    """`burst` at once, then `per_second`: a token bucket, kept as the time at which it is full again."""

    __slots__ = ("_full_at", "_interval", "_slack")

    def __init__(self, burst: int, per_second: float) -> None:
        self._interval = 1 / per_second
        self._slack = (burst - 1) * self._interval
        self._full_at = 0.0

    @property
    def is_full(self) -> bool:
        return self._full_at <= monotonic()

    def delay(self) -> float:
        """Seconds until the next one may go."""
        return max(0.0, self._full_at - self._slack - monotonic())

    def take(self) -> float:
        """Counts one; returns the seconds that it has to wait."""
        now, full_at = monotonic(), self._full_at
        self._full_at = max(now, full_at) + self._interval
        return max(0.0, full_at - self._slack - now)


class Places:
    """One place for each key (`async with places.of(key)`): who waits, waits behind the same key only."""

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[Hashable, asyncio.Lock] = WeakValueDictionary()

    def of(self, key: Hashable) -> asyncio.Lock:
        lock = self._locks.get(key)
        if lock is None:
            lock = self._locks[key] = asyncio.Lock()
        return lock
