"""The beginnings of runs that are under way in a process: its end waits for them, and then allows no more."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from sessions_app.errors import RunError


class Launches:
    """A run is stored in a thread before its process has it in hand: what ends all runs would miss it."""

    def __init__(self) -> None:
        self.are_closed = False
        self._under_way: set[asyncio.Future[None]] = set()

    @contextmanager
    def one(self) -> Iterator[None]:
        """A launch: from before a run is stored until its task is known. Raises RunError while stopping."""
        if self.are_closed:
            raise RunError("The server is being stopped.", hint="Send it again in a moment.")
        done = asyncio.get_running_loop().create_future()
        self._under_way.add(done)
        try:
            yield
        finally:
            self._under_way.discard(done)
            done.set_result(None)

    async def close(self) -> None:
        """Waits for those under way."""
        self.are_closed = True
        await asyncio.gather(*self._under_way)
