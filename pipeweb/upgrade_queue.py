"""Handshakes of sockets, one after another: a waiting one costs an open connection and nothing else."""

import asyncio
from collections import deque
from collections.abc import Callable

from sessions_app.fairness import Rate
from sessions_app.runs.background import isolated

PAUSE = 0.02
"""Seconds between two handshakes, each of which takes some milliseconds: however many pages connect at once,
most of the event loop's time is left to those that are connected."""

BURST, PER_SECOND = 20, 4.0
"""Handshakes of one sign-in."""

WAITING_LIMIT = 300
"""Handshakes of one sign-in that may wait."""

KEYS_KEPT = 1_000
"""Rates kept, beside those of waiting keys, before those that have their burst again are dropped."""

Begin = Callable[[], object]


class UpgradeQueue:
    """Begins handshakes at a rate for each key, the keys in turn. Used from one event loop only."""

    def __init__(self) -> None:
        self._waiting: dict[str, deque[Begin]] = {}
        self._rates: dict[str, Rate] = {}
        self._task: asyncio.Task[None] | None = None

    def add(self, key: str, begin: Begin) -> bool:
        """`key` is the sign-in whose handshake it is. False when too many of it wait."""
        waiting = self._waiting.setdefault(key, deque())
        if len(waiting) >= WAITING_LIMIT:
            return False
        waiting.append(begin)
        if self._task is None:
            self._task = asyncio.ensure_future(self._begin_all())
        return True

    def remove(self, key: str, begin: Begin) -> None:
        """One whose client has left; does nothing when it has begun."""
        waiting = self._waiting.get(key, deque())
        if begin in waiting:
            waiting.remove(begin)

    async def _begin_all(self) -> None:
        while self._waiting:
            if (begin := self._next()) is not None:
                with isolated("handshake_failed"):
                    begin()
            await asyncio.sleep(PAUSE)
        self._task = None

    def _next(self) -> Begin | None:
        """The first of the key that waits longest among those whose rate allows one now."""
        self._waiting = {key: waiting for key, waiting in self._waiting.items() if waiting}
        key = next((key for key in self._waiting if self._rate(key).delay() == 0), None)
        if key is None:
            return None
        self._rates[key].take()
        waiting = self._waiting[key] = self._waiting.pop(key)
        self._forget_idle_keys()
        return waiting.popleft()

    def _rate(self, key: str) -> Rate:
        return self._rates.setdefault(key, Rate(BURST, PER_SECOND))

    def _forget_idle_keys(self) -> None:
        if len(self._rates) > 2 * len(self._waiting) + KEYS_KEPT:
            self._rates = {key: rate for key, rate in self._rates.items() if not rate.is_full}
