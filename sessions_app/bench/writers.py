"""`bench writers`: several processes store turns in one SQLite file, with our settings and Django's own."""

import tempfile
from argparse import ArgumentParser
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from statistics import median
from typing import Any

import orjson

from sessions_app.bench.figures import percentile
from sessions_app.bench.processes import START_LIMIT, migrated, run_module
from sessions_app.bench.registry import Bench, Say

WRITERS = 4
SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class Written:
    """What all writers of one setting did; `times` in milliseconds a turn."""

    turns: int
    locked: int
    times: Sequence[float]
    seconds: float

    def line(self, name: str) -> str:
        return (
            f"{name:<16}{self.turns:>8}{self.turns / self.seconds:>10.0f}{self.locked:>10}"
            f"{median(self.times):>10.1f}{percentile(self.times, 99):>10.1f}{max(self.times):>10.1f}"
        )


def write(writers: int, seconds: float, *, plain: bool) -> Written:
    """Lets the writers loose on a database of their own. Raises PipewebError."""
    with tempfile.TemporaryDirectory(prefix="pipeweb-bench-") as folder:
        migrated(folder)
        arguments = (str(seconds), *(["plain"] if plain else []))
        with ThreadPoolExecutor(writers) as threads:
            answers = [
                threads.submit(
                    run_module, "scribe", *arguments, limit=seconds + START_LIMIT, PIPEWEB_DATA=folder
                )
                for _ in range(writers)
            ]
        done = [orjson.loads(answer.result()) for answer in answers]
    return Written(
        turns=sum(one["turns"] for one in done),
        locked=sum(one["locked"] for one in done),
        times=[ms for one in done for ms in one["ms"]],
        seconds=seconds,
    )


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--writers", type=int, default=WRITERS, help="processes (default: %(default)s)")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="of load (default: %(default)s)")
    parser.add_argument(
        "--baseline", type=float, help="seconds for Django's own settings (default: the same)"
    )


def run(given: Mapping[str, Any], say: Say) -> None:
    writers, seconds = given["writers"], given["seconds"]
    ours = write(writers, seconds, plain=False)
    plain = write(writers, given.get("baseline") or seconds, plain=True)
    say(f"{writers} processes, {seconds:.0f} s; ms per turn")
    say(f"{'':<16}{'turns':>8}{'a second':>10}{'locked':>10}{'p50':>10}{'p99':>10}{'longest':>10}")
    say(ours.line("ours"))
    say(plain.line("Django's own"))


BENCH = Bench("writers", "several processes writing one SQLite file: is it ever locked?", add_arguments, run)
