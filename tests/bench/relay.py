"""`bench relay`: how fast text reaches a reader, beside the SDK alone and a bare HTTP client in one run.

Everything is durable, as in production. Nothing of the upstream, of a browser's rendering or of TLS is in
the figures, and the machine's other work is: run it on an idle one.
"""

import signal
import time
from argparse import ArgumentParser, BooleanOptionalAction
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from math import inf
from pathlib import Path
from typing import Any, Protocol

from sessions_app.errors import PipewebError
from tests.bench.base import Aim, Bench, Say, add_json_argument, json_path, listed, positive, write_json
from tests.bench.processes import Server, ended_by_sigterm, temporary_folder
from tests.bench.relay_direct import DirectClient
from tests.bench.relay_load import Figures, Load, LoadResult
from tests.bench.relay_pipeweb import pipeweb
from tests.bench.relay_report import Capacity, Measurement, RelayReport

STREAMS = (1, 20, 100)
PACES = (20.0, 100.0)
REPEATS = 3
CHUNKS = 100
SHORT_SECONDS = 5.0
"""An answer that lasts no longer is asked for twice: a session's first turn and one with a history."""

CAPACITY_LOW = 20
CAPACITY_HIGH = 800
CAPACITY_TOLERANCE = 10
CAPACITY_SECONDS = 180.0
"""The search stops after this, per system and pace, with the highest number that held so far."""

CAPACITY_P99 = 100.0
NEAR_MISS = 300.0
"""Ms. A p99 up to this may be another program's fault and gets a second try."""


class System(Protocol):
    """Anything that can be put under a load."""

    @property
    def name(self) -> str: ...

    def measure(self, load: Load) -> LoadResult: ...


@dataclass(frozen=True, slots=True)
class Options:
    """What is measured; with `capacity_seconds` 0 the highest number of streams is not looked for."""

    streams: tuple[int, ...] = STREAMS
    paces: tuple[float, ...] = PACES
    chunks: int = CHUNKS
    repeats: int = REPEATS
    capacity_seconds: float = CAPACITY_SECONDS

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> "Options":
        """From the command line; what is not given comes from the defaults, or from `--quick`."""
        quick = cls(paces=PACES[:1], repeats=1, capacity_seconds=0)
        base = quick if given.get("quick") else cls()
        asked = {name: given[name] for name in ("streams", "paces", "chunks", "repeats") if given.get(name)}
        if (capacity := given.get("capacity")) is not None:
            asked["capacity_seconds"] = CAPACITY_SECONDS if capacity else 0.0
        return replace(base, **asked)

    def loads(self) -> list[Load]:
        return [self.load(streams, pace) for pace in self.paces for streams in self.streams]

    def load(self, streams: int, pace: float) -> Load:
        is_short = self.chunks * pace <= SHORT_SECONDS * 1000
        return Load(streams, pace, self.chunks, turns=2 if is_short else 1)


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--quick", action="store_true", help="one repeat at one pace, without capacity")
    parser.add_argument("--streams", type=listed(int), help="readers at once, comma-separated")
    parser.add_argument("--pace", dest="paces", type=listed(float), help="ms between chunks, comma-separated")
    parser.add_argument("--chunks", type=positive(int), help="chunks of an answer")
    parser.add_argument("--repeats", type=positive(int), help="measurements of which the median is shown")
    parser.add_argument("--capacity", action=BooleanOptionalAction, help="find the highest number of streams")
    parser.add_argument("--profile", action="store_true", help="show what Pipeweb spends its time on instead")
    add_json_argument(parser)


def run(given: Mapping[str, Any], say: Say) -> Sequence[Aim]:
    options, path = Options.of(given), json_path(given)
    with ended_by_sigterm(), temporary_folder() as folder:
        if given.get("profile"):
            show_profile(options, folder, say)
            return ()
        report = measure(options, folder, say)
    for line in report.lines():
        say(line)
    write_json(path, report.as_json())
    return report.aims()


def measure(options: Options, folder: Path, say: Say) -> RelayReport:
    with ExitStack() as stack:
        upstream = stack.enter_context(fake_upstream(folder))
        product = stack.enter_context(pipeweb(folder, upstream))
        sdk = DirectClient("SDK alone", "sdk", upstream)
        rows = compare([DirectClient("raw socket", "raw", upstream), sdk, product], options, say)
        return RelayReport(rows, capacities([sdk, product], options, say))


@contextmanager
def fake_upstream(folder: Path) -> Iterator[str]:
    """The address of a fake Gemini in a process of its own."""
    command = ("-m", "tests.bench.fake_upstream")
    with Server("upstream", command, r"upstream on port (\d+)", folder) as server:
        yield f"http://127.0.0.1:{server.port}"


def compare(systems: Sequence[System], options: Options, say: Say) -> list[Measurement]:
    """Every system under every load, in turns: what else the machine does hits all of them alike."""
    found: dict[tuple[str, Load], list[Figures]] = {}
    for repeat in range(options.repeats):
        for load in options.loads():
            for system in rotated(systems, repeat):
                figures = Figures.of(system.measure(load))
                found.setdefault((system.name, load), []).append(figures)
                say(f"  {repeat + 1}/{options.repeats}  {brief(system, load, figures)}")
    order = [(system.name, load) for load in options.loads() for system in systems]
    return [Measurement(name, load, Figures.typical(found[name, load])) for name, load in order]


def brief(system: System, load: Load, figures: Figures) -> str:
    return (
        f"{load.streams} streams, {load.pace:g} ms, {system.name}: "
        f"{figures.cpu:.0f} ms CPU per 1,000 chunks, p99 {figures.relay99:.1f} ms"
    )


def rotated(systems: Sequence[System], by: int) -> list[System]:
    by %= len(systems)
    return [*systems[by:], *systems[:by]]


def capacities(systems: Sequence[System], options: Options, say: Say) -> list[Capacity]:
    if not options.capacity_seconds:
        return []
    return [capacity(system, options, pace, say) for pace in options.paces for system in systems]


def capacity(system: System, options: Options, pace: float, say: Say) -> Capacity:
    """The most streams with a p99 below 100 ms and no fault. A near miss may try again."""
    deadline = time.monotonic() + options.capacity_seconds

    def passes(streams: int) -> bool:
        load = options.load(streams, pace)
        late = lateness(system, load)
        if CAPACITY_P99 <= late < NEAR_MISS:
            late = lateness(system, load)
        holds = late < CAPACITY_P99
        say(f"  {system.name}, {pace:g} ms: {streams} streams {'hold' if holds else 'are too many'}")
        return holds

    streams = highest(
        passes, CAPACITY_LOW, CAPACITY_HIGH, CAPACITY_TOLERANCE, lambda: time.monotonic() < deadline
    )
    return Capacity(system.name, pace, streams)


def lateness(system: System, load: Load) -> float:
    """The p99 of a load in ms; inf when an answer failed or the load got stuck."""
    try:
        figures = Figures.of(system.measure(load))
    except PipewebError:
        return inf
    return inf if figures.faults else figures.relay99


def highest(
    passes: Callable[[int], bool],
    low: int,
    high: int,
    tolerance: int,
    is_in_time: Callable[[], bool] = lambda: True,
) -> int:
    """The largest number of low…high that passes, within `tolerance`; 0 when `low` fails.

    Doubles until one fails, then halves the gap: a system is never loaded much beyond what it can take.
    Takes it that what passes at n passes below n. Out of time, it is the largest that was seen to pass.
    """
    passed, failed = 0, high + 1
    tried = low
    while is_in_time():
        if passes(tried):
            passed = tried
        else:
            failed = tried
        if failed <= low or failed - passed <= max(tolerance, 1):
            break
        tried = (passed + failed) // 2 if failed <= high else min(passed * 2, high)
    return passed


def show_profile(options: Options, folder: Path, say: Say) -> None:
    """Pipeweb alone, under the load that the aims speak of, in a server that `profiler` runs."""
    streams = 20 if options.streams == STREAMS else options.streams[0]
    load = replace(options.load(streams, options.paces[0]), turns=3)
    path = folder / "profile"
    command = ("-m", "tests.bench.profiler", str(path), "up", "--port", "0")
    with fake_upstream(folder) as upstream, pipeweb(folder, upstream, command) as product:
        product.server.signal(signal.SIGUSR1)
        figures = Figures.of(product.measure(load))
        say(f"Under the profiler: {brief(product, load, figures)}")
    say(path.read_text())


BENCH = Bench("relay", "how fast text reaches its reader, beside the SDK alone", add_arguments, run)
