"""`bench relay`: how fast text reaches a reader, beside the SDK alone and a bare HTTP client in one run.

Everything is durable, as in production. Nothing of the upstream, of a browser's rendering or of TLS is in
the figures, and the machine's other work is: run it on an idle one.
"""

import signal
import tempfile
import time
from argparse import ArgumentParser, BooleanOptionalAction
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sessions_app.bench.figures import Figures, highest
from sessions_app.bench.load import Load
from sessions_app.bench.profiling import ROWS, lines_of
from sessions_app.bench.registry import Bench, Say
from sessions_app.bench.report import Capacity, Report, Row
from sessions_app.bench.systems import Direct, Pipeweb, System, fake_upstream, pipeweb
from sessions_app.errors import PipewebError

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


@dataclass(frozen=True, slots=True)
class Options:
    """What is measured; with `capacity_seconds` 0 the highest number of streams is not looked for."""

    streams: tuple[int, ...] = STREAMS
    paces: tuple[float, ...] = PACES
    chunks: int = CHUNKS
    repeats: int = REPEATS
    capacity_seconds: float = CAPACITY_SECONDS
    profile: bool = False
    json: str = ""

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> "Options":
        """From the command line; what is not given comes from the defaults, or from `--quick`."""
        quick = cls(paces=PACES[:1], repeats=1, capacity_seconds=0)
        base = quick if given.get("quick") else cls()
        asked = {name: given[name] for name in ("streams", "paces", "chunks", "repeats") if given.get(name)}
        if (capacity := given.get("capacity")) is not None:
            asked["capacity_seconds"] = CAPACITY_SECONDS if capacity else 0.0
        return replace(base, **asked, profile=bool(given.get("profile")), json=given.get("json") or "")

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
    parser.add_argument("--json", metavar="FILE", help="write the figures there too")
    parser.add_argument("--profile", action="store_true", help="show what Pipeweb spends its time on instead")


def positive(kind: Callable[[str], Any]) -> Callable[[str], Any]:
    """The type of an option that is a number above 0."""

    def parse(text: str) -> Any:
        value = kind(text)
        if not 0 < value < float("inf"):
            raise ValueError(text)
        return value

    parse.__name__ = "number"
    return parse


def listed(kind: Callable[[str], Any]) -> Callable[[str], tuple[Any, ...]]:
    """The type of an option that holds such numbers, comma-separated."""

    def parse(text: str) -> tuple[Any, ...]:
        return tuple(map(positive(kind), text.split(",")))

    parse.__name__ = "list"
    return parse


def run(given: Mapping[str, Any], say: Say) -> None:
    options = Options.of(given)
    if options.json and not Path(options.json).parent.is_dir():
        raise PipewebError(f"There is no folder for {options.json}.")
    with ended_by_signals(), tempfile.TemporaryDirectory(prefix="pipeweb-bench-") as folder:
        if options.profile:
            show_profile(options, Path(folder), say)
            return
        report = measure(options, Path(folder), say)
    for line in report.lines():
        say(line)
    if options.json:
        Path(options.json).write_bytes(report.json())


def measure(options: Options, folder: Path, say: Say) -> Report:
    with ExitStack() as stack:
        upstream = stack.enter_context(fake_upstream(folder))
        product = stack.enter_context(pipeweb(folder, upstream))
        sdk = Direct("SDK alone", "sdk", upstream)
        rows = compare([Direct("raw socket", "raw", upstream), sdk, product], options, say)
        return Report(rows, capacities([sdk, product], options, say))


def compare(systems: Sequence[System], options: Options, say: Say) -> list[Row]:
    """Every system under every load, in turns: what else the machine does hits all of them alike."""
    found: dict[tuple[str, Load], list[Figures]] = {}
    for repeat in range(options.repeats):
        for load in options.loads():
            for system in rotated(systems, repeat):
                figures = Figures.of(system.measure(load))
                found.setdefault((system.name, load), []).append(figures)
                say(f"  {repeat + 1}/{options.repeats}  {brief(system, load, figures)}")
    order = [(system.name, load) for load in options.loads() for system in systems]
    return [Row(name, load, Figures.typical(found[name, load])) for name, load in order]


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
        return float("inf")
    return float("inf") if figures.faults else figures.relay99


def show_profile(options: Options, folder: Path, say: Say) -> None:
    """Pipeweb alone, under the load that the aims speak of."""
    streams = 20 if options.streams == STREAMS else options.streams[0]
    load = replace(options.load(streams, options.paces[0]), turns=3)
    path = folder / "profile"
    command = ("-m", "sessions_app.bench.profiling", str(path), "up", "--port", "0")
    with fake_upstream(folder) as upstream, pipeweb(folder, upstream, command) as product:
        record(product, load, say)
    for line in lines_of(ROWS.validate_json(path.read_bytes())):
        say(line)


def record(product: Pipeweb, load: Load, say: Say) -> None:
    product.server.signal(signal.SIGUSR1)
    figures = Figures.of(product.measure(load))
    say(f"Under the profiler: {brief(product, load, figures)}")


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """SIGTERM ends a bench as Ctrl-C does: with every process and file of its own gone."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


BENCH = Bench("relay", "how fast text reaches its reader, beside the SDK alone", add_arguments, run)
