"""Titles that are asked for beside the runs."""

import asyncio
from collections.abc import Callable

from sessions_app.gemini.gateway import Gateway
from sessions_app.models import Run
from sessions_app.runs.background import detached, isolated
from sessions_app.runs.session_streams import SessionStream
from sessions_app.runs.side_requests import improve_title, wants_title

StreamOf = Callable[[int], SessionStream | None]


class Titles:
    """Nothing waits for a title, least of all a shutdown."""

    def __init__(self, stream_of: StreamOf) -> None:
        self._stream_of = stream_of
        self._tasks: set[asyncio.Task[None]] = set()

    def improve(self, run: Run, gateway: Gateway) -> None:
        """Asks for one where the session wants it."""
        if wants_title(run):
            task = detached(self._update(run, gateway), run=str(run.public))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    @property
    def tasks(self) -> list["asyncio.Task[None]"]:
        return list(self._tasks)

    async def cancel(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _update(self, run: Run, gateway: Gateway) -> None:
        with isolated("title_failed", run=str(run.public)):
            title = await improve_title(gateway, run)
            if title and (stream := self._stream_of(run.session_id)) is not None:
                stream.set_title(title)
