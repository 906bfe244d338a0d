"""`bench capture`: what the relay for other programs adds, beside the same requests sent directly.

Everything runs on this machine, which the load shares with the server: run it on an idle one. The delay of a
chunk is from the moment at which the upstream wrote it (`fake_upstream`) until it is read here.

CPU of a chunk: an answer with all chunks beside one with two, which takes as long, so that rest and request
cancel out; the median of the repeats, with what is recorded. With one stream every chunk wakes a process that
slept, whose price is the machine's: there `bare_pipe`, which passes packets on unread, is taken off.
"""

import asyncio
import subprocess
import sys
import time
from argparse import ArgumentParser
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median
from typing import Any
from urllib.parse import urlsplit

from sessions_app.errors import PipewebError
from tests.bench.base import Aim, Bench, Say, percentile, positive
from tests.bench.fake_upstream import STAMP, STREAM
from tests.bench.processes import ROOT, START_LIMIT, Server, cpu_seconds, environment, temporary_folder
from tests.bench.relay import fake_upstream
from tests.bench.relay_pipeweb import GREETING, MANAGE

STREAMS = (1, 20, 100)
SIZES = (50_000, 5_000_000)
LARGE_STREAMS = 1
"""A large body is sent by one program at a time."""

CHUNKS, PACE = 50, 20.0
FEW = 2
"""Chunks of an answer that takes as long."""

WARM_UP = 5
SHORT = 20
"""Requests with a short answer, one after the other, for the time until the first byte."""

REST_SECONDS = 3.0
RECORDED_SECONDS = 1.0
FIRST_AIM, CHUNK_AIM = 3.0, 0.2
"""Ms: added to the first byte at the median, of CPU for a chunk."""

TARGET = f"/v1beta/models/bench{STREAM.decode()}?alt=sse"


@dataclass(slots=True)
class Times:
    """Ms until the first byte of each answer, and of each chunk on its way; ms of CPU of the server."""

    firsts: list[float] = field(default_factory=list)
    delays: list[float] = field(default_factory=list)
    request_cpu: float = 0.0
    chunk_cpu: float = 0.0

    def line(self, name: str) -> str:
        figures = [percentile(self.firsts, 50), percentile(self.firsts, 95), percentile(self.delays, 50)]
        return f"{name:<28}" + "".join(
            f"{one:>13.2f}" for one in (*figures, self.request_cpu, self.chunk_cpu)
        )


@dataclass(frozen=True, slots=True)
class Case:
    streams: int
    size: int
    chunks: int = CHUNKS
    pace: float = PACE

    @property
    def name(self) -> str:
        return f"{self.streams} × {self.size / 1000:,.0f} kB"

    @property
    def with_few(self) -> "Case":
        return replace(self, chunks=FEW, pace=self.pace * self.chunks / FEW)

    def body(self, number: int) -> bytes:
        """No two are alike, as no two requests of people are."""
        orders = f"chunks={self.chunks} pace={self.pace:g}"
        filler = f"{number} " + "all the words of a long brief " * (self.size // 30)
        text = b'{"contents":[{"role":"user","parts":[{"text":"%b"},{"text":"%b"}]}]}'
        return text % (filler.encode(), orders.encode())


def cases(streams: Sequence[int]) -> Iterator[Case]:
    yield from (Case(count, SIZES[0]) for count in streams)
    yield Case(LARGE_STREAMS, SIZES[1])


async def ask(url: str, body: bytes, times: Times) -> None:
    """One request on a connection of its own. Raises PipewebError for an answer that is none."""
    place = urlsplit(url)
    reader, writer = await asyncio.open_connection(place.hostname, place.port)
    lines = (f"POST {place.path}{TARGET} HTTP/1.1", f"Host: {place.netloc}", f"Content-Length: {len(body)}")
    try:
        began = time.perf_counter()
        writer.write("\r\n".join((*lines, "", "")).encode() + body)
        answer = await reader.readuntil(b"\r\n\r\n")
        if b" 200 " not in answer.partition(b"\r\n")[0]:
            raise PipewebError(f"bench: the answer was {answer[:80]!r}.")
        first = True
        while (size := int((await reader.readuntil(b"\r\n"))[:-2], 16)) > 0:
            chunk = (await reader.readexactly(size + 2))[:-2]
            now = time.monotonic_ns()
            if first:
                times.firsts.append((time.perf_counter() - began) * 1000)
                first = False
            times.delays += [(now - int(stamp)) / 1e6 for stamp in STAMP.findall(chunk)]
        await reader.readuntil(b"\r\n")
    finally:
        writer.close()


@dataclass(frozen=True, slots=True)
class Between:
    """The server between, and the CPU seconds that it needs in a second of rest."""

    pid: int
    idle: float

    @classmethod
    def at_rest(cls, pid: int) -> "Between":
        before = cpu_seconds(pid)
        time.sleep(REST_SECONDS)
        return cls(pid, (cpu_seconds(pid) - before) / REST_SECONDS)


async def measure(case: Case, url: str, repeats: int, server: Between | None = None) -> Times:
    """With the CPU of `server`, if there is one."""
    times, quiet = Times(), replace(case, streams=1, chunks=FEW, pace=1.0)
    for number in range(WARM_UP + SHORT):
        await load(quiet, url, number, times if number >= WARM_UP and case.streams == 1 else Times())
    requests, chunks = [], []
    for number in range(repeats):
        few = await cpu_of(case.with_few, url, number, times, server)
        many = await cpu_of(case, url, number, times, server)
        requests.append(few / case.streams)
        chunks.append((many - few) / case.streams / (case.chunks - FEW))
    times.request_cpu, times.chunk_cpu = median(requests), median(chunks)
    return times


async def load(case: Case, url: str, number: int, times: Times) -> None:
    """One answer for each stream, at once."""
    bodies = [case.body(number * case.streams + at) for at in range(case.streams)]
    await asyncio.gather(*(ask(url, body, times) for body in bodies))


async def cpu_of(case: Case, url: str, number: int, times: Times, server: Between | None) -> float:
    """Ms of CPU beyond rest, with what is recorded afterwards."""
    if server is None:
        await load(case, url, number, times)
        return 0.0
    began, before = time.monotonic(), cpu_seconds(server.pid)
    await load(case, url, number, times)
    await asyncio.sleep(RECORDED_SECONDS)
    rest = server.idle * (time.monotonic() - began)
    return 1000 * (cpu_seconds(server.pid) - before - rest)


@dataclass(frozen=True, slots=True)
class Found:
    """The times of a case: sent directly, through a pipe, and relayed."""

    direct: Times
    piped: Times
    relayed: Times

    @property
    def added(self) -> float:
        return percentile(self.relayed.firsts, 50) - percentile(self.direct.firsts, 50)


def aims_of(found: Mapping[Case, Found]) -> Iterator[Aim]:
    for at, (case, one) in enumerate(found.items()):
        if at == 0:
            yield Aim(f"added to the first byte at p50, {case.name}, ms", FIRST_AIM, one.added)
        if case.size != SIZES[0]:
            continue
        if case.streams == 1:
            added = one.relayed.chunk_cpu - one.piped.chunk_cpu
            yield Aim(f"CPU of a chunk beyond that of a bare pipe, {case.name}, ms", CHUNK_AIM, added)
        else:
            yield Aim(f"CPU of a chunk, {case.name}, ms", CHUNK_AIM, one.relayed.chunk_cpu)


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--streams", type=positive(int), nargs="+", default=STREAMS, help="at once")
    parser.add_argument("--repeats", type=positive(int), default=5, help="of each case (default: 5)")


def new_address(port: int, **variables: str) -> str:
    command = [sys.executable, *MANAGE[:1], "capture", "--name", "bench", "--port", str(port)]
    done = subprocess.run(
        command, cwd=ROOT, env=environment(**variables), capture_output=True, timeout=START_LIMIT, check=False
    )
    if done.returncode:
        raise PipewebError(f"bench: no address was made: {done.stderr.decode()[-300:]}")
    return done.stdout.decode().strip()


def run(given: Mapping[str, Any], say: Say) -> Sequence[Aim]:
    with temporary_folder() as folder, fake_upstream(folder) as url, bare_pipe(folder, url) as pipe:
        variables = {"PIPEWEB_DATA": str(folder / "data"), "GOOGLE_GEMINI_BASE_URL": url}
        with Server("server", MANAGE, GREETING, folder, **variables) as server:
            address = new_address(server.port, **variables)
            heads = ("first p50", "first p95", "chunk p50", "CPU/request", "CPU/chunk")
            say(f"{'ms':<28}" + "".join(f"{head:>13}" for head in heads))
            way = [
                ("directly", url, None),
                ("a bare pipe", f"http://127.0.0.1:{pipe.port}", Between(pipe.pid, 0.0)),
                ("relayed", address, Between.at_rest(server.pid)),
            ]
            found: dict[Case, Found] = {}
            for case in cases(given["streams"]):
                times = [asyncio.run(measure(case, base, given["repeats"], pid)) for _, base, pid in way]
                for (name, _, _), one in zip(way, times, strict=True):
                    say(one.line(f"{case.name}, {name}"))
                found[case] = Found(*times)
            return [*aims_of(found)]


def bare_pipe(folder: Path, url: str) -> Server:
    command = ("-m", "tests.bench.bare_pipe", str(urlsplit(url).port))
    return Server("pipe", command, r"pipe on port (\d+)", folder)


BENCH = Bench("capture", "requests of other programs, directly and through the relay", add_arguments, run)
