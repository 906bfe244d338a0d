"""The connections of a process: one for each server and person, made with the first call."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from math import ceil
from time import monotonic
from typing import Any

from sessions_app.errors import McpServerFailed
from sessions_app.fairness import Places
from sessions_app.mcp.connection import Connection, TakeListing
from sessions_app.mcp.spec import ServerSpec
from sessions_app.mcp_codes import ServerProblem

AT_ONCE = 64
"""Connections of one process. One that is idle makes room."""

FIRST_PAUSE, LONGEST_PAUSE = 1.0, 60.0
"""Seconds before a server that failed is started again; doubled with each failure in a row."""

Key = tuple[str, int]

NoteFailure = Callable[[ServerSpec, McpServerFailed], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Failures:
    count: int
    until: float


class Connections:
    """The connections of one process, used from its event loop only."""

    def __init__(self, take_listing: TakeListing, note_failure: NoteFailure) -> None:
        self._take_listing = take_listing
        self._note_failure = note_failure
        self._open: dict[Key, Connection] = {}
        self._failures: dict[Key, Failures] = {}
        self._places = Places()

    async def call(self, spec: ServerSpec, person: int, tool: str, args: Mapping[str, Any]) -> dict[str, Any]:
        """Raises McpServerFailed, and ToolError for an error of the tool."""
        key = spec.key, person
        async with self._places.of(key):
            connection = await self._connection(spec, key)
        try:
            response = await connection.call(tool, args)
        except McpServerFailed as failure:
            if self._open.get(key) is connection:
                await self._fail(spec, key, failure)
            raise
        self._failures.pop(key, None)
        return response

    async def close(self) -> None:
        """Ends all servers."""
        open_now, self._open = list(self._open.values()), {}
        await asyncio.gather(*(one.close() for one in open_now))

    @property
    def count(self) -> int:
        return sum(not one.is_over for one in self._open.values())

    async def _connection(self, spec: ServerSpec, key: Key) -> Connection:
        known = self._open.get(key)
        if known is not None and known.spec == spec and not known.is_over:
            return known
        if known is not None:
            await self._drop(spec, key, known)
        await self._pause(key)
        await self._make_room()
        connection = self._open[key] = Connection(spec, self._take_listing)
        try:
            await connection.ready()
        except McpServerFailed as failure:
            await self._fail(spec, key, failure)
            raise
        return connection

    async def _drop(self, spec: ServerSpec, key: Key, known: Connection) -> None:
        """One that is over, or whose row has changed."""
        self._open.pop(key, None)
        if known.failure is not None:
            await self._fail(spec, key, known.failure)
        if known.spec != spec:
            self._failures.pop(key, None)
        await known.close()

    async def _fail(self, spec: ServerSpec, key: Key, failure: McpServerFailed) -> None:
        connection = self._open.pop(key, None)
        before = self._failures.get(key)
        count = before.count + 1 if before else 1
        pause = min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** (count - 1))
        self._failures[key] = Failures(count, monotonic() + pause)
        if connection is not None:
            await connection.close()
        await self._note_failure(spec, failure)

    async def _pause(self, key: Key) -> None:
        """Waits for a short pause; raises McpServerFailed during a long one."""
        failures = self._failures.get(key)
        left = failures.until - monotonic() if failures else 0.0
        if left > FIRST_PAUSE:
            raise McpServerFailed(ServerProblem.PAUSED, seconds=ceil(left))
        if left > 0:
            await asyncio.sleep(left)

    async def _make_room(self) -> None:
        for key in [key for key, one in self._open.items() if one.is_over]:
            self._open.pop(key)
        if len(self._open) < AT_ONCE:
            return
        idle = [(one.used_at, key) for key, one in self._open.items() if not one.calls]
        if not idle:
            raise McpServerFailed(ServerProblem.TOO_MANY, limit=AT_ONCE)
        await self._open.pop(min(idle)[1]).close()
