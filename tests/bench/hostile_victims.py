"""What an attack does to others: people who chat and open pages meanwhile.

`python -m tests.bench.hostile_victims` reads a VictimPlan on stdin and writes their Readings.
"""

import asyncio
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import httpx2
from pydantic import TypeAdapter
from websockets.asyncio.client import ClientConnection
from websockets.exceptions import WebSocketException

from tests.bench.browser import Browser
from tests.bench.relay_client import read_answer
from tests.bench.relay_load import Load, StreamTimer
from tests.bench.relay_pipeweb import PipewebConversation, Seat, greeted

ANSWER = Load(streams=1, pace=5, chunks=4)
INTERVAL = 3.0
"""Seconds between two messages of one person."""

PATIENCE = 20.0
"""Seconds after which nothing is expected any more."""


@dataclass(frozen=True, slots=True)
class VictimPlan:
    port: int
    seats: list[Seat]
    seconds: float


@dataclass(frozen=True, slots=True)
class Readings:
    """`firsts`: ms from a message to its first text; `pages`: ms of a chat page; `faults`: what failed."""

    firsts: list[float] = field(default_factory=list)
    pages: list[float] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)


VICTIM_PLAN = TypeAdapter(VictimPlan)
READINGS = TypeAdapter(Readings)


class Person:
    """Sends a message, and opens the page of the chat half an interval later."""

    def __init__(self, plan: VictimPlan, seat: Seat, readings: Readings) -> None:
        self._plan = plan
        self._seat = seat
        self._readings = readings
        self._socket: ClientConnection | None = None
        self._gate = asyncio.Semaphore()
        self._browser = Browser(plan.port, seat, PATIENCE)

    async def live(self, delay: float) -> None:
        await self._connect()
        end = time.monotonic() + self._plan.seconds
        await asyncio.sleep(delay)
        async with self._browser:
            while time.monotonic() < end:
                begin = time.monotonic()
                await self._ask()
                await asyncio.sleep(begin + INTERVAL / 2 - time.monotonic())
                await self._open_page()
                await asyncio.sleep(begin + INTERVAL - time.monotonic())
        if self._socket is not None:
            await self._socket.close()

    async def _connect(self) -> None:
        try:
            async with asyncio.timeout(PATIENCE):
                self._socket = await greeted(self._plan.port, self._seat, self._gate)
        except (OSError, WebSocketException):
            self._socket = None

    async def _ask(self) -> None:
        if self._socket is None:
            await self._connect()
        timer = StreamTimer(ANSWER.chunks)
        timer.ask(time.monotonic_ns())
        try:
            async with asyncio.timeout(PATIENCE):
                await read_answer(PipewebConversation(self._socket), timer, ANSWER.message)
        except TimeoutError:
            timer.faults.append("no answer in time")
        self._readings.firsts.extend(timer.firsts)
        self._readings.faults.extend(timer.faults)
        if timer.faults and self._socket is not None:
            await self._socket.close()
            self._socket = None

    async def _open_page(self) -> None:
        begin = time.monotonic()
        try:
            code = await self._browser.get(f"/s/{self._seat.session}/")
        except httpx2.HTTPError as error:
            self._readings.faults.append(f"page: {type(error).__name__}")
            return
        self._readings.pages.append((time.monotonic() - begin) * 1000)
        if code != httpx2.codes.OK:
            self._readings.faults.append(f"page: {code}")


async def measure(plan: VictimPlan) -> Readings:
    readings = Readings()
    people: Sequence[Person] = [Person(plan, seat, readings) for seat in plan.seats]
    async with asyncio.TaskGroup() as tasks:
        for number, person in enumerate(people):
            tasks.create_task(person.live(INTERVAL * number / len(people)))
    return readings


def main() -> None:
    plan = VICTIM_PLAN.validate_json(sys.stdin.buffer.read())
    sys.stdout.buffer.write(READINGS.dump_json(asyncio.run(measure(plan))))


if __name__ == "__main__":
    main()
