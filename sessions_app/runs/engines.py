"""The engines of a process: one for each API key that runs have begun with."""

import asyncio
from collections.abc import Callable

from sessions_app.runs.engine import Engine


class Engines:
    """One per process, used from its event loop only."""

    def __init__(self, engine: Engine, renew: Callable[[], Engine | None] = lambda: None) -> None:
        """`renew` is asked before each run; it returns another engine where the API key has changed."""
        self._newest = engine
        self._renew = renew
        self._earlier: list[Engine] = []

    def current(self) -> Engine:
        """The engine of the next run; runs that have begun keep theirs."""
        if (renewed := self._renew()) is not None:
            self._earlier.append(self._newest)
            self._newest = renewed
        return self._newest

    async def drain(self) -> None:
        """Waits for the background work of all of them."""
        await asyncio.gather(*(engine.drain() for engine in (*self._earlier, self._newest)))

    async def close(self) -> None:
        """Closes the connections to the provider, of earlier keys too."""
        for engine in (*self._earlier, self._newest):
            await engine.gateway.aclose()
