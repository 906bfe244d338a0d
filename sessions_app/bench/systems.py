"""What is measured side by side: each system takes a load and gives a sample."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from sessions_app.bench.load import LOADS, PLANS, SAMPLES, SEATS, Load, Plan, Sample, Seat
from sessions_app.bench.processes import START_LIMIT, Child, run_module

LATEST = 30.0
"""Seconds that a load may take longer than it should before it counts as stuck."""

MANAGE = ("manage.py", "up", "--port", "0")
WARM_UP = Load(streams=2, pace=5, chunks=10)


class System(Protocol):
    """Anything that can be put under a load."""

    @property
    def name(self) -> str: ...

    def measure(self, load: Load) -> Sample: ...


class Direct:
    """A client with nothing between it and the upstream: `raw` or `sdk` of `direct`."""

    def __init__(self, name: str, client: str, upstream: str) -> None:
        self.name = name
        self._arguments = (client, upstream)

    def measure(self, load: Load) -> Sample:
        given = LOADS.dump_json(load)
        return SAMPLES.validate_json(
            run_module("direct", *self._arguments, given=given, limit=load.seconds + LATEST + START_LIMIT)
        )


class Pipeweb:
    """A running server, used as browsers use it."""

    name = "Pipeweb"

    def __init__(self, server: Child, data: Path) -> None:
        self.server = server
        self._data = data

    def measure(self, load: Load) -> Sample:
        plan = Plan(self.server.port, self.server.pid, load, self._seats(load.streams))
        given = PLANS.dump_json(plan)
        return SAMPLES.validate_json(
            run_module("viewers", given=given, limit=load.seconds + LATEST + START_LIMIT)
        )

    def _seats(self, count: int) -> list[Seat]:
        data = str(self._data)
        return SEATS.validate_json(run_module("people", str(count), limit=START_LIMIT, PIPEWEB_DATA=data))


@contextmanager
def fake_upstream(folder: Path) -> Iterator[str]:
    """The address of a fake Gemini in a process of its own."""
    with Child("upstream", ("-m", "sessions_app.bench.upstream"), r"upstream on port (\d+)", folder) as child:
        yield f"http://127.0.0.1:{child.port}"


@contextmanager
def pipeweb(folder: Path, upstream: str, command: tuple[str, ...] = MANAGE) -> Iterator[Pipeweb]:
    """`manage.py up` with a data folder of its own, warm: a first turn loads what later ones use."""
    data = folder / "data"
    variables = {
        "PIPEWEB_DATA": str(data),
        "GEMINI_API_KEY": "bench",
        "GOOGLE_GEMINI_BASE_URL": upstream,
    }
    with Child("server", command, r"http://127\.0\.0\.1:(\d+)(?s:.*)Ctrl-C", folder, **variables) as server:
        system = Pipeweb(server, data)
        system.measure(WARM_UP)
        yield system
