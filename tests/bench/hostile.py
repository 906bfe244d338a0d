"""`bench hostile`: what one person can do to the others, attack by attack, in one process.

Twelve people chat and open pages, first alone and then beside the attack; the aims are their 95th
percentiles beside those without it, and what has to come of the attack itself (`hostile_aims`). The
attackers work on the same machine, at a low priority (`hostile_attacks`); part of what they cost is still
theirs and not Pipeweb's.
"""

import time
from argparse import ArgumentParser
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from sessions_app.errors import PipewebError
from tests.bench.base import Aim, Bench, Say, percentile, positive, ratio
from tests.bench.hostile_aims import EXPECTED
from tests.bench.hostile_attacks import ATTACK_PLAN, ATTACKS, AttackPlan
from tests.bench.hostile_people import DURING, NORMAL, WARM_UP, Crowd, gather_crowd
from tests.bench.hostile_victims import PATIENCE, READINGS, VICTIM_PLAN, Readings, VictimPlan
from tests.bench.processes import (
    START_LIMIT,
    Server,
    ended_by_sigterm,
    resident_bytes,
    run_module,
    temporary_folder,
)
from tests.bench.relay_pipeweb import GREETING, MANAGE
from tests.deployment import postgres

SECONDS = 12.0
NORMAL_SECONDS = 12.0
WARM_UP_SECONDS = 4.0
DATABASES = ("sqlite", "postgres")
MOST = 2.0
"""Times the normal p95."""

SAMPLE = 0.2
"""Seconds between two readings of the server's memory."""


@dataclass(frozen=True, slots=True)
class Effect:
    """One attack on one database. Times are p95 in ms, `memory` is MB above the memory before."""

    database: str
    attack: str
    normal: Readings
    during: Readings
    outcomes: Mapping[str, int]
    memory: float

    @property
    def first(self) -> float:
        return ratio(percentile(self.during.firsts, 95), percentile(self.normal.firsts, 95))

    @property
    def page(self) -> float:
        return ratio(percentile(self.during.pages, 95), percentile(self.normal.pages, 95))

    @property
    def line(self) -> str:
        outcomes = ", ".join(f"{count} {name}" for name, count in self.outcomes.items())
        firsts, pages = (
            f"{percentile(normal, 95):>8.0f}{percentile(during, 95):>8.0f}"
            for normal, during in (
                (self.normal.firsts, self.during.firsts),
                (self.normal.pages, self.during.pages),
            )
        )
        return (
            f"{self.database:<9}{self.attack:<17}{firsts}{self.first:>6.1f}{pages}{self.page:>6.1f}"
            f"{len(self.during.faults):>8}{self.memory:>8.0f}  {outcomes}"
        )

    def aims(self) -> list[Aim]:
        name = f"{self.database}, {self.attack}"
        return [
            Aim(f"{name}: first chunk of others, × normal", MOST, self.first),
            Aim(f"{name}: pages of others, × normal", MOST, self.page),
            Aim(f"{name}: answers and pages of others that failed", 0, len(self.during.faults)),
            *EXPECTED[self.attack].aims(name, self.outcomes, self.memory),
        ]


HEADING = (
    f"{'database':<9}{'attack':<17}{'first':>8}{'during':>8}{'×':>6}{'page':>8}{'during':>8}{'×':>6}"
    f"{'failed':>8}{'+MB':>8}  attacker's outcomes"
)


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--attacks", type=lambda text: text.split(","), help=f"of: {', '.join(ATTACKS)}")
    parser.add_argument("--databases", type=lambda text: text.split(","), help="sqlite,postgres")
    parser.add_argument(
        "--seconds", type=positive(float), default=SECONDS, help="of each attack (default: %(default)s)"
    )


def run(given: Mapping[str, Any], say: Say) -> Sequence[Aim]:
    attacks, databases = given["attacks"] or list(ATTACKS), given["databases"] or list(DATABASES)
    if unknown := {*attacks, *databases} - {*ATTACKS, *DATABASES}:
        raise PipewebError(f"Unknown: {', '.join(sorted(unknown))}.")
    say("p95 in ms of the others’ first chunks and pages, without and during the attack")
    say(HEADING)
    aims: list[Aim] = []
    with ended_by_sigterm():
        for database in databases:
            for effect in effects(database, attacks, given["seconds"]):
                say(effect.line)
                for fault in sorted(set(effect.during.faults)):
                    say(f"{'':<26}{fault}")
                aims += effect.aims()
    return aims


def effects(database: str, attacks: Sequence[str], seconds: float) -> Iterator[Effect]:
    """Every attack meets a server of its own: what one leaves behind is not the next one's."""
    for attack in attacks:
        with temporary_folder() as folder, stage(folder, database) as scene:
            scene.watch(WARM_UP, WARM_UP_SECONDS)
            yield scene.attack(attack, scene.watch(NORMAL, NORMAL_SECONDS), seconds)


@dataclass(frozen=True, slots=True)
class Scene:
    """A running server and its people; `variables` name its database."""

    database: str
    server: Server
    crowd: Crowd
    folder: Path
    variables: Mapping[str, str]

    def watch(self, phase: str, seconds: float) -> Readings:
        """What the victims see for so long."""
        given = VICTIM_PLAN.dump_json(VictimPlan(self.server.port, self.crowd.victims[phase], seconds))
        limit = seconds + START_LIMIT + 3 * PATIENCE
        return READINGS.validate_json(run_module("hostile_victims", given=given, limit=limit))

    def attack(self, name: str, normal: Readings, seconds: float) -> Effect:
        """Victims and attacker at once."""
        before = highest = resident_bytes(self.server.pid)
        with ThreadPoolExecutor(2) as threads:
            attacker = threads.submit(self._attack, name, seconds)
            victims = threads.submit(self.watch, DURING, seconds)
            while not (attacker.done() and victims.done()):
                highest = max(highest, resident_bytes(self.server.pid))
                time.sleep(SAMPLE)
            outcomes, during = attacker.result(), victims.result()
        return Effect(self.database, name, normal, during, outcomes, (highest - before) / 1e6)

    def _attack(self, name: str, seconds: float) -> Mapping[str, int]:
        plan = AttackPlan(self.server.port, self.crowd, str(self.folder), seconds)
        given, limit = ATTACK_PLAN.dump_json(plan), seconds + 2 * START_LIMIT
        printed = run_module("hostile_attacks", name, given=given, limit=limit, **self.variables)
        outcomes: Mapping[str, int] = orjson.loads(printed)
        return outcomes


@contextmanager
def stage(folder: Path, database: str) -> Iterator[Scene]:
    """A hostile upstream, a server before it, and the people. Raises PipewebError."""
    with ExitStack() as stack:
        command = ("-m", "tests.bench.hostile_upstream")
        upstream = stack.enter_context(Server("upstream", command, r"upstream on port (\d+)", folder))
        variables = {"PIPEWEB_DATA": str(folder / "data")}
        if database == "postgres":
            variables["DATABASE_URL"] = stack.enter_context(new_database())
        provider = {"GEMINI_API_KEY": "bench", "GOOGLE_GEMINI_BASE_URL": f"http://127.0.0.1:{upstream.port}"}
        server = stack.enter_context(Server("server", MANAGE, GREETING, folder, **provider, **variables))
        yield Scene(database, server, gather_crowd(folder, variables), folder, variables)


@contextmanager
def new_database() -> Iterator[str]:
    """The URL of an empty PostgreSQL database. Raises PipewebError."""
    if not postgres.is_possible():
        raise PipewebError("There is no PostgreSQL here.", hint="Measure with --databases sqlite.")
    database = postgres.Database()
    database.create()
    try:
        yield database.url
    finally:
        database.drop()


BENCH = Bench("hostile", "what an attack by one person does to the others", add_arguments, run)
