"""`bench relay`: how fast text reaches a reader, beside the SDK, bare relays and other servers in one run.

Everything is durable, as in production. Nothing of the upstream, of a browser's rendering or of TLS is in
the figures, and the machine's other work is: run it on an idle one.
"""

import signal
from argparse import ArgumentParser
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from sessions_app.errors import PipewebError
from tests.bench.base import Aim, Bench, Say, add_json_argument, json_path, listed, positive, write_json
from tests.bench.processes import Server, ended_by_sigterm, temporary_folder
from tests.bench.profiler import PROFILES_THREADS
from tests.bench.relay_adapters import ADAPTERS
from tests.bench.relay_capacity import CAPACITY_SECONDS, capacities
from tests.bench.relay_deployment import on_postgres
from tests.bench.relay_direct import DirectClient
from tests.bench.relay_floor import SERVERS, bare_relay
from tests.bench.relay_load import Figures, Load, LoadResult
from tests.bench.relay_memory import memory_of_up
from tests.bench.relay_peer import peer_at
from tests.bench.relay_pipeweb import pipeweb
from tests.bench.relay_report import AIMED, FORTY, LONG, ONE, SHORT, Measurement, RelayReport

STREAMS = (1, 20, 100)
PACES = (20.0, 100.0)
REPEATS = 3
CHUNKS = 100
SHORT_SECONDS = 5.0
"""An answer that lasts no longer is asked for twice: a session's first turn and one with a history."""

SECTIONS = ("split", "streams", "memory", "deployment", "capacity")
QUICK = ("split", "streams", "memory")


class System(Protocol):
    """Anything that can be put under a load."""

    @property
    def name(self) -> str: ...

    def measure(self, load: Load) -> LoadResult: ...


@dataclass(frozen=True, slots=True)
class Options:
    """What is measured: chunk and turn apart (split), how many streams at which pace, and so on."""

    sections: tuple[str, ...] = SECTIONS
    streams: tuple[int, ...] = STREAMS
    paces: tuple[float, ...] = PACES
    chunks: int = CHUNKS
    repeats: int = REPEATS
    capacity_seconds: float = CAPACITY_SECONDS

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> "Options":
        """From the command line; what is not given comes from the defaults, or from `--quick`."""
        quick = cls(sections=QUICK, streams=(20,), paces=PACES[:1], repeats=1)
        base = quick if given.get("quick") else cls()
        names = ("sections", "streams", "paces", "chunks", "repeats", "capacity_seconds")
        options = replace(base, **{name: given[name] for name in names if given.get(name)})
        if unknown := set(options.sections) - set(SECTIONS):
            raise PipewebError(
                f"Unknown: {', '.join(sorted(unknown))}.", hint=f"Known: {', '.join(SECTIONS)}."
            )
        return options

    def loads(self) -> list[Load]:
        """Those of the table; the first chunk of one person has a load of its own."""
        found = [self.load(streams, pace) for pace in self.paces for streams in self.streams]
        return [ONE, *found]

    def load(self, streams: int, pace: float) -> Load:
        is_short = self.chunks * pace <= SHORT_SECONDS * 1000
        return Load(streams, pace, self.chunks, turns=2 if is_short else 1)


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--quick", action="store_true", help="one repeat at one pace, in three minutes")
    parser.add_argument(
        "--sections", type=lambda text: tuple(text.split(",")), help=f"of {','.join(SECTIONS)}"
    )
    parser.add_argument("--streams", type=listed(int), help="readers at once, comma-separated")
    parser.add_argument("--pace", dest="paces", type=listed(float), help="ms between chunks, comma-separated")
    parser.add_argument("--chunks", type=positive(int), help="chunks of an answer")
    parser.add_argument("--repeats", type=positive(int), help="measurements of which the median is shown")
    parser.add_argument(
        "--capacity-seconds",
        type=positive(int),
        help=f"of each search for a capacity, by default {CAPACITY_SECONDS:g}",
    )
    parser.add_argument("--profile", action="store_true", help="show what Pipeweb spends its time on instead")
    parser.add_argument("--peer", metavar="URL", help="another chat server of this machine, in the same run")
    parser.add_argument(
        "--adapter",
        default="openai",
        help=f"how it is talked to: {', '.join(ADAPTERS)} or a dotted path (default: %(default)s)",
    )
    parser.add_argument(
        "--upstream-port",
        type=positive(int),
        help="where the fake Gemini listens that the peer asks; required with --peer",
    )
    add_json_argument(parser)


def run(given: Mapping[str, Any], say: Say) -> Sequence[Aim]:
    options, path = Options.of(given), json_path(given)
    if given.get("peer") and not given.get("upstream_port"):
        raise PipewebError(
            "bench: --peer needs --upstream-port.", hint="It is where the peer asks for answers."
        )
    if given.get("profile") and not PROFILES_THREADS:
        raise PipewebError(
            "bench: --profile needs Python 3.11.", hint="Later ones cannot profile several threads at once."
        )
    with ended_by_sigterm(), temporary_folder() as folder:
        if given.get("profile"):
            show_profile(options, folder, say)
            return ()
        report = measure(options, folder, say, given)
    for line in report.lines():
        say(line)
    write_json(path, report.as_json())
    return report.aims()


def measure(options: Options, folder: Path, say: Say, given: Mapping[str, Any]) -> RelayReport:
    report = RelayReport()
    with ExitStack() as stack:
        upstream = stack.enter_context(fake_upstream(folder, given.get("upstream_port") or 0))
        product = stack.enter_context(pipeweb(folder, upstream))
        floors = [stack.enter_context(bare_relay(name, folder, upstream)) for name in SERVERS]
        peers = [peer_at(given["peer"], given["adapter"], upstream)] if given.get("peer") else []
        served: list[System] = [*floors, *peers, product]
        clients = [
            DirectClient("raw socket", "raw", upstream),
            DirectClient("SDK transport", "transport", upstream),
            DirectClient("SDK alone", "sdk", upstream),
        ]
        if "split" in options.sections:
            report.rows += compare(served, [LONG, SHORT], options.repeats, say)
        if "streams" in options.sections:
            report.rows += compare([*clients, *served], options.loads(), options.repeats, say)
        if "capacity" in options.sections:
            # What has aims first: the search for what a bare relay takes is the longest.
            report.capacities = capacities(rotated(served, -1), options, say)
        if "deployment" in options.sections:
            with on_postgres(folder, upstream, say) as deployed:
                if deployed:
                    report.rows += compare([product, *deployed], [FORTY], options.repeats, say)
                    report.rows += compare(deployed, [AIMED], options.repeats, say)
        if "memory" in options.sections:
            report.memory = memory_of_up(upstream, say)
    return report


@contextmanager
def fake_upstream(folder: Path, port: int = 0) -> Iterator[str]:
    """The address of a fake Gemini in a process of its own, by default on a free port."""
    command = ("-m", "tests.bench.fake_upstream", str(port))
    with Server("upstream", command, r"upstream on port (\d+)", folder) as server:
        yield f"http://127.0.0.1:{server.port}"


def compare(systems: Sequence[System], loads: Sequence[Load], repeats: int, say: Say) -> list[Measurement]:
    """Every system under every load, in turns: what else the machine does hits all of them alike."""
    found: dict[tuple[str, Load], list[Figures]] = {}
    for repeat in range(repeats):
        for load in loads:
            for system in rotated(systems, repeat):
                figures = Figures.of(system.measure(load))
                found.setdefault((system.name, load), []).append(figures)
                say(f"  {repeat + 1}/{repeats}  {brief(system, load, figures)}")
    order = [(system.name, load) for load in loads for system in systems]
    return [Measurement(name, load, Figures.typical(found[name, load])) for name, load in order]


def brief(system: System, load: Load, figures: Figures) -> str:
    return (
        f"{load.streams} streams, {load.chunks} × {load.pace:g} ms, {system.name}: "
        f"{figures.cpu:.0f} ms CPU per 1,000 chunks, p99 {figures.relay99:.1f} ms"
    )


def rotated(systems: Sequence[System], by: int) -> list[System]:
    by %= len(systems)
    return [*systems[by:], *systems[:by]]


def show_profile(options: Options, folder: Path, say: Say) -> None:
    """Pipeweb alone, under the load that the aims speak of, in a server that `profiler` runs."""
    streams = 20 if options.streams == STREAMS else options.streams[0]
    load = replace(options.load(streams, options.paces[0]), turns=3)
    path = folder / "profile"
    command = ("-m", "tests.bench.profiler", str(path), "up", "--port", "0")
    with fake_upstream(folder) as upstream, pipeweb(folder, upstream, command) as product:
        product.servers[0].signal(signal.SIGUSR1)
        figures = Figures.of(product.measure(load))
        say(f"Under the profiler: {brief(product, load, figures)}")
    say(path.read_text())


BENCH = Bench("relay", "how fast text reaches its reader, beside the SDK alone", add_arguments, run)
