"""A process of Pipeweb inside the test's own, which can die as by SIGKILL."""

import asyncio
import os
import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

import httpx2
from asgiref.sync import SyncToAsync
from django.db import connections

from pipeweb.composition import build_runner
from sessions_app.gemini.gateway import Gateway
from sessions_app.runs.retry_policy import RetryPolicy
from sessions_app.runs.runner import Runner
from tests.task_threads import close_task_connections, in_each_task_thread

T = TypeVar("T")
PATIENCE = 120.0
"""Seconds after which the test has got stuck."""

_dead: list["MortalProcess"] = []
"""Their tasks must never run again, not even to be cleaned up."""


class MortalProcess:
    """A runner in an event loop and a thread of its own."""

    def __init__(self, transport: httpx2.AsyncBaseTransport) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._transport = transport
        self.runner: Runner = self.call(self._start())

    async def _start(self) -> Runner:
        self._gateway = Gateway(api_key="a-long-enough-key", transport=self._transport)
        return build_runner(self._gateway, RetryPolicy(tries=2, base=0.001, longest=1))

    def call(self, work: Coroutine[Any, Any, T]) -> T:
        """Runs it in the process and waits for its result."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(PATIENCE)

    def drain(self) -> None:
        self.call(self.runner.drain())

    def kill(self) -> None:
        """Nothing runs any more, nothing is put in order; the kernel unlocks the lock file."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(PATIENCE)
        _dead.append(self)
        in_each_task_thread(lambda: None)
        lock: Any = self.runner.process_lock
        os.close(lock._file)
        writer: Any = self.runner
        writer._writer._thread.submit(connections.close_all).result(PATIENCE)

    def end(self) -> None:
        """As SIGTERM ends a process."""
        self.call(self._end())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(PATIENCE)
        self._loop.close()
        close_task_connections()

    async def _end(self) -> None:
        await self.runner.shutdown()
        await self._gateway.aclose()


def in_database_thread(work: Callable[[], T]) -> T:
    """Runs it in the thread in which every process of this test does its database work."""
    return SyncToAsync.single_thread_executor.submit(work).result(PATIENCE)
