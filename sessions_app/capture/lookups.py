"""What the relay reads from the database for a request: in a thread, and remembered for some seconds."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Generic, TypeVar

from django.db import Error, connections

from sessions_app.database import close_unusable_connections

REMEMBERED = 1_000

WAIT_SECONDS = 1.0
"""For a database that does not answer, before what was known holds; without that, ten times as long."""

Key = TypeVar("Key", str, int)
Found = TypeVar("Found")


class Lookup(Generic[Key, Found]):
    """One reading of a key at a time, whoever waits for it."""

    def __init__(
        self, read: Callable[[Key], Found], name: str, seconds: float, *, outlives: bool = False
    ) -> None:
        """`outlives`: what was read before holds while the database is away."""
        self._read: Callable[[Key], Found] = read
        self._seconds = seconds
        self._outlives = outlives
        self._known: OrderedDict[Key, tuple[Found, float]] = OrderedDict()
        self._reading: dict[Key, asyncio.Future[Found]] = {}
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=f"pipeweb-capture-{name}")

    async def get(self, key: Key) -> Found:
        """Raises the database's Error, also where it does not answer."""
        known = self._known.get(key)
        if known is not None and known[1] >= time.monotonic():
            return known[0]
        is_enough = known is not None and self._outlives
        reading = self._reading.get(key) or self._begin(key)
        await asyncio.wait({reading}, timeout=WAIT_SECONDS if is_enough else 10 * WAIT_SECONDS)
        try:
            if not reading.done():
                raise Error("the database does not answer")
            return reading.result()
        except Error:
            if known is None or not self._outlives:
                raise
            return known[0]

    async def close(self) -> None:
        await asyncio.get_running_loop().run_in_executor(self._thread, connections.close_all)
        self._thread.shutdown(wait=False)

    def _begin(self, key: Key) -> "asyncio.Future[Found]":
        reading = asyncio.get_running_loop().run_in_executor(self._thread, self._fresh, key)
        self._reading[key] = reading
        reading.add_done_callback(partial(self._ended, key))
        return reading

    def _ended(self, key: Key, reading: "asyncio.Future[Found]") -> None:
        self._reading.pop(key, None)
        if reading.cancelled() or reading.exception():
            return
        self._known[key] = (reading.result(), time.monotonic() + self._seconds)
        self._known.move_to_end(key)
        if len(self._known) > REMEMBERED:
            self._known.popitem(last=False)

    def _fresh(self, key: Key) -> Found:
        close_unusable_connections()
        return self._read(key)
