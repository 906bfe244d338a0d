"""Helpers of tests of runs: a runner, a viewer, scripted and failing providers."""

import asyncio
import uuid
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import aclosing, asynccontextmanager
from typing import Any
from unittest import mock

import httpx2
import orjson

from pipeweb.composition import build_emulator, build_runner
from sessions_app.emulator import Emulator, EmulatorTransport
from sessions_app.emulator.faults import FAULT_HEADER
from sessions_app.gemini.gateway import Gateway
from sessions_app.models import Run, Session
from sessions_app.runs.processes import LeaseWatch, ProcessLock, abandoned_runs, end_abandoned_run
from sessions_app.runs.retry_policy import RetryPolicy
from sessions_app.runs.runner import Runner
from tests.chat.sockets import sockets_of
from tests.task_threads import close_task_connections

QUICK = RetryPolicy(base=0.01, longest=1)


@asynccontextmanager
async def running(gateway: Gateway | None = None, retry_policy: RetryPolicy = QUICK) -> AsyncIterator[Runner]:
    """A runner before `gateway`, or before an emulator of its own without delays."""
    gateway = gateway or build_emulator(Emulator(delay=0))
    runner = build_runner(gateway, retry_policy)
    yield runner
    await sockets_of(runner).stop()
    await runner.shutdown()
    await gateway.aclose()
    await asyncio.to_thread(close_task_connections)


@asynccontextmanager
async def running_held() -> AsyncIterator[tuple[Runner, asyncio.Event]]:
    """A runner before an emulator that streams no chunk until the event is set."""
    released = asyncio.Event()

    async def sleep(seconds: float) -> None:
        await released.wait()

    async with running(build_emulator(Emulator(delay=0.01, sleep=sleep))) as runner:
        yield runner, released


async def until(condition: Callable[[], Coroutine[Any, Any, bool]]) -> None:
    """Waits for a minute at most."""
    for _ in range(3_000):
        if await condition():
            return
        await asyncio.sleep(0.02)
    raise AssertionError


Event = dict[str, Any]


async def send(runner: Runner, session: Session, text: str) -> uuid.UUID:
    """Sends a message that starts a run; answers the run's public id."""
    client_id = uuid.uuid4()
    await runner.send(session.pk, client_id, text)
    return (await Run.objects.aget(client_id=client_id)).public


async def watch(
    runner: Runner, session: Session, run: uuid.UUID, after: int = -1, until: str = "finished"
) -> list[Event]:
    """The run's events from `after` up to the first whose type or kind is `until`."""
    seen: list[Event] = []
    async with aclosing(runner.follow(session.pk, run, after)) as events:
        async for feed, _, wire in events:
            if feed is not None:
                seen.append(orjson.loads(wire))
                if until in (seen[-1]["type"], seen[-1].get("kind")):
                    return seen
    return seen


class Provider(httpx2.AsyncBaseTransport):
    """Streams the given parts, each in a chunk of its own, and keeps what it was sent."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []
        self.requests: list[bytes] = []
        self.last = (
            b'{"candidates":[{"content":{"parts":[{"text":""}],"role":"model"},"finishReason":"STOP"}]}'
        )

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        if request.url.path.endswith(":streamGenerateContent"):
            self.requests.append(await request.aread())
        chunks = [b'{"candidates":[{"content":{"parts":[%b],"role":"model"}}]}' % part for part in self.parts]
        body = b"".join(b"data: %b\r\n\r\n" % chunk for chunk in [*chunks, self.last])
        return httpx2.Response(200, content=body)


class TroubledTransport(EmulatorTransport):
    """Asks the emulator for `fault`, until it is emptied, and keeps the read time-out as a socket would."""

    def __init__(self) -> None:
        super().__init__(Emulator(delay=0))
        self.fault = ""

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        if self.fault:
            request.headers[FAULT_HEADER] = self.fault
        response = await super().handle_async_request(request)
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        response.stream = _Patient(response.stream, request.extensions["timeout"]["read"])
        return response


class _Patient(httpx2.AsyncByteStream):
    def __init__(self, inner: httpx2.AsyncByteStream, read: float) -> None:
        self._inner = inner
        self._read = read

    async def __aiter__(self) -> AsyncIterator[bytes]:
        pieces = aiter(self._inner)
        while True:
            try:
                async with asyncio.timeout(self._read):
                    piece = await anext(pieces)
            except StopAsyncIteration:
                return
            except TimeoutError:
                raise httpx2.ReadTimeout("") from None
            yield piece

    async def aclose(self) -> None:
        await self._inner.aclose()


def end_abandoned_runs(process_lock: ProcessLock) -> list[int]:
    """Ends the runs of dead processes, as a heartbeat does; returns the keys of their sessions."""
    with mock.patch("sessions_app.runs.processes.SURE_SECONDS", 0.0):
        sessions = map(end_abandoned_run, abandoned_runs(process_lock, LeaseWatch()))
    return [session_pk for session_pk in sessions if session_pk is not None]
