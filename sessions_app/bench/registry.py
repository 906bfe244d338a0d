"""The benches by name. A new one is a module with a `BENCH` and a line here."""

from argparse import ArgumentParser
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

Say = Callable[[str], None]
"""Takes one line for the person who waits."""


@dataclass(frozen=True, slots=True)
class Bench:
    """One measurement: `words` is its line in the list, `run` takes the parsed options and somebody to tell.

    `run` raises PipewebError when the measurement cannot be made.
    """

    name: str
    words: str
    add_arguments: Callable[[ArgumentParser], None]
    run: Callable[[Mapping[str, Any], Say], None]


def benches() -> dict[str, Bench]:
    from sessions_app.bench import assembly, cost, inspector, relay, writers

    known = (relay.BENCH, writers.BENCH, assembly.BENCH, cost.BENCH, inspector.BENCH)
    return {bench.name: bench for bench in known}
