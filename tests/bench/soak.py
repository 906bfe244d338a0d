"""`bench soak`: whether a server's memory, files and sockets stay as they are over thousands of turns.

`python -m tests.bench.soak people COUNT SESSIONS` makes people with that many sessions each and prints their
Seats; `… talk` reads a SoakPlan on stdin and writes its Samples: five people chat as people do, with reloads,
stops, failures, uploads and looks into the inspector.
"""

import asyncio
import sys
import uuid
from argparse import ArgumentParser
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from statistics import mean
from typing import Any

import httpx2
import orjson
from prometheus_client.parser import text_string_to_metric_families
from pydantic import TypeAdapter
from websockets.asyncio.client import ClientConnection

from sessions_app.errors import PipewebError
from sessions_app.socket_commands import Send, Stop
from tests.bench.base import Aim, Bench, Say, positive
from tests.bench.browser import Browser, multipart
from tests.bench.processes import (
    START_LIMIT,
    ended_by_sigterm,
    lift_limits,
    process_tree,
    resident_bytes,
    run_module,
    set_up_django,
    temporary_folder,
)
from tests.bench.relay import fake_upstream
from tests.bench.relay_load import Load
from tests.bench.relay_pipeweb import Seat, greeted, pipeweb, sign_in

PEOPLE = 5
TURNS = 2_000
SETTLED = 200
"""Turns after which nothing should grow any more."""

SAMPLE_EVERY = 100
TURNS_IN_SESSION = 40
TOLERANCE = 5.0
"""Percent."""

RELOAD_EVERY, INSPECT_EVERY, STOP_EVERY, FAIL_EVERY, UPLOAD_EVERY = 10, 7, 30, 35, 25
ANSWER = Load(streams=1, pace=0, chunks=20).message
LONG_ANSWER = Load(streams=1, pace=20, chunks=200).message
EMPTY = Load(streams=1, pace=0, chunks=0).message
"""An answer without text: the run fails."""

CACHES = "pipeweb_memory_cache_bytes"

TEXT_FILE = b"a line of a file\n" * 2_000
QUIET = 1.0
"""Seconds of rest before a sample: what an answer needed is given back."""

SECONDS_A_TURN = 1.0
"""At most, on a slow machine."""


@dataclass(frozen=True, slots=True)
class SoakPlan:
    """`seats`: one list per person, a seat for each of their sessions."""

    port: int
    pid: int
    turns: int
    seats: list[list[Seat]]


@dataclass(frozen=True, slots=True)
class Sample:
    """What the server's processes hold after so many turns, in bytes: resident `memory`, and what of it
    caches keep, which have a bound.

    `failed` turns did not end as they should.
    """

    turns: int
    memory: int
    files: int
    sockets: int
    failed: int = 0
    kept: int = 0

    @property
    def unbounded(self) -> int:
        """The memory that may not grow."""
        return self.memory - self.kept

    @property
    def line(self) -> str:
        memory = f"{self.memory / 1e6:>10.1f}{self.kept / 1e6:>11.1f}"
        return f"{self.turns:>8}{memory}{self.files:>8}{self.sockets:>9}{self.failed:>8}"


PLAN = TypeAdapter(SoakPlan)
PEOPLE_SEATS = TypeAdapter(list[list[Seat]])
SAMPLES = TypeAdapter(list[Sample])
HEADING = f"{'turns':>8}{'RSS MB':>10}{'caches MB':>11}{'files':>8}{'sockets':>9}{'failed':>8}"


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--turns", type=positive(int), default=TURNS, help="default: %(default)s")


def run(given: Mapping[str, Any], say: Say) -> Sequence[Aim]:
    samples = soak(given["turns"])
    say(f"{PEOPLE} people, {given['turns']} turns")
    say(HEADING)
    for sample in samples:
        say(sample.line)
    return aims(samples)


def soak(turns: int) -> list[Sample]:
    """Raises PipewebError."""
    sessions = str(turns // PEOPLE // TURNS_IN_SESSION + 1)
    with (
        ended_by_sigterm(),
        temporary_folder() as folder,
        fake_upstream(folder) as upstream,
        pipeweb(folder, upstream) as product,
    ):
        data = str(folder / "data")
        made = run_module("soak", "people", str(PEOPLE), sessions, limit=START_LIMIT, PIPEWEB_DATA=data)
        server = product.servers[0]
        plan = SoakPlan(server.port, server.pid, turns, PEOPLE_SEATS.validate_json(made))
        limit = turns * SECONDS_A_TURN + START_LIMIT
        return SAMPLES.validate_json(run_module("soak", "talk", given=PLAN.dump_json(plan), limit=limit))


def aims(samples: Sequence[Sample]) -> list[Aim]:
    settled = [sample for sample in samples if sample.turns >= SETTLED]
    if len(settled) < 2:
        raise PipewebError(f"At least {SETTLED + SAMPLE_EVERY} turns show whether anything grows.")
    first, *later = settled
    drift = max(abs(sample.unbounded - first.unbounded) for sample in later) / first.unbounded * 100
    return [
        Aim(f"memory beside the caches off its value after {SETTLED} turns, %", TOLERANCE, drift),
        Aim("files more than then, %", TOLERANCE, _growth([sample.files for sample in settled])),
        Aim("sockets more than then, %", TOLERANCE, _growth([sample.sockets for sample in settled])),
        Aim("turns that went wrong", 0, settled[-1].failed),
    ]


def _growth(counts: Sequence[int]) -> float:
    """By how many percent the end is above the beginning: means of halves, as a count moves by a few."""
    half = len(counts) // 2
    return (mean(counts[-half:]) / mean(counts[:half]) - 1) * 100


def make_people(count: int, sessions: int) -> list[list[Seat]]:
    from sessions_app.models import Session

    lift_limits()
    people = []
    for seat in sign_in(count):
        first = Session.objects.get(public=seat.session)
        more = [
            Session.objects.create(owner_id=first.owner_id, model=first.model) for _ in range(sessions - 1)
        ]
        people.append([seat, *(Seat(seat.cookie, str(session.public)) for session in more)])
    return people


class Person:
    """Chats in one session after the other; `failed` counts turns that did not end as they should."""

    def __init__(self, plan: SoakPlan, seats: Sequence[Seat]) -> None:
        self.failed = 0
        self._plan = plan
        self._seats: Iterator[Seat] = cycle(seats)
        self._seat = next(self._seats)
        self._socket: ClientConnection | None = None
        self._turns = 0

    async def talk(self, turns: int) -> None:
        for _ in range(turns):
            if self._turns % TURNS_IN_SESSION == 0 and self._turns:
                self._seat = next(self._seats)
            if self._turns % RELOAD_EVERY == 0 or self._socket is None:
                await self._open()
            self._turns += 1
            self.failed += not await self._turn()
            await self._look_around()

    async def _open(self) -> None:
        """The page of the session, and its socket."""
        if self._socket is not None:
            await self._socket.close()
        async with Browser(self._plan.port, self._seat, START_LIMIT) as browser:
            await browser.get(f"/s/{self._seat.session}/")
        self._socket = await greeted(self._plan.port, self._seat, asyncio.Semaphore())

    async def _turn(self) -> bool:
        """Whether the turn ended as it should."""
        if self._turns % STOP_EVERY == 0:
            return await self._send(LONG_ANSWER, stop=True) == "stopped"
        if self._turns % FAIL_EVERY == 0:
            return await self._send(EMPTY) == "failed"
        return await self._send(ANSWER) == "completed"

    async def _send(self, text: str, *, stop: bool = False) -> str:
        """How the run ended; with `stop` it is stopped at its first text."""
        if self._socket is None:
            return "no socket"
        await self._socket.send(Send(client_id=uuid.uuid4(), text=text).wire())
        async for data in self._socket:
            event = orjson.loads(data)
            if stop and event["type"] == "delta":
                await self._socket.send(Stop(run=event["run"]).wire())
                stop = False
            if event["type"] in ("finished", "refused"):
                return str(event.get("status", "refused"))
        return "closed"

    async def _look_around(self) -> None:
        async with Browser(self._plan.port, self._seat, START_LIMIT) as browser:
            if self._turns % INSPECT_EVERY == 0:
                await browser.get(f"/s/{self._seat.session}/inspect/")
                await browser.get(f"/s/{self._seat.session}/inspect/1/")
            if self._turns % UPLOAD_EVERY == 0:
                content, kind = multipart("notes.txt", TEXT_FILE)
                await browser.post(f"/s/{self._seat.session}/attachments/", content, kind)


async def talk(plan: SoakPlan) -> list[Sample]:
    people = [Person(plan, seats) for seats in plan.seats]
    samples = []
    for done in range(SAMPLE_EVERY, plan.turns + 1, SAMPLE_EVERY):
        await asyncio.gather(*(person.talk(SAMPLE_EVERY // len(people)) for person in people))
        await asyncio.sleep(QUIET)
        kept = await _kept(plan.port)
        samples.append(sample(plan.pid, done, sum(person.failed for person in people), kept))
    return samples


async def _kept(port: int) -> int:
    """Bytes in the server's caches, of which each has a bound, as its metrics say."""
    async with httpx2.AsyncClient(trust_env=False) as client:
        told = await client.get(f"http://127.0.0.1:{port}/metrics")
    return sum(
        int(one.value)
        for family in text_string_to_metric_families(told.text)
        for one in family.samples
        if one.name == CACHES
    )


def sample(pid: int, turns: int, failed: int = 0, kept: int = 0) -> Sample:
    """What the process and its children hold now."""
    targets = [target for one in process_tree(pid) for target in _open_files(one)]
    sockets = sum(target.startswith("socket:") for target in targets)
    return Sample(turns, resident_bytes(pid), len(targets) - sockets, sockets, failed, kept)


def _open_files(pid: int) -> Iterator[str]:
    for link in Path(f"/proc/{pid}/fd").iterdir():
        # Closed since the folder was read.
        with suppress(OSError):
            yield str(link.readlink())


def main(action: str, *counts: str) -> None:
    if action == "people":
        set_up_django()
        sys.stdout.buffer.write(PEOPLE_SEATS.dump_json(make_people(*map(int, counts))))
    else:
        plan = PLAN.validate_json(sys.stdin.buffer.read())
        sys.stdout.buffer.write(SAMPLES.dump_json(asyncio.run(talk(plan))))


BENCH = Bench("soak", "memory, files and sockets over thousands of turns", add_arguments, run)

if __name__ == "__main__":
    main(*sys.argv[1:])
