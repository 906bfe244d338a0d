"""`bench people`: five people with different rights at once; the audit log has all that they did and no more.

`python -m tests.bench.people enrol` makes them in the database that PIPEWEB_DATA names; with `log` it prints
what the audit log there holds.
"""

import asyncio
import json
import sys
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import TypeAdapter

from tests.bench.base import Aim, Bench, Say, positive
from tests.bench.people_acts import PERSONS, Entry, Person, Scene, everybody
from tests.bench.processes import (
    START_LIMIT,
    Server,
    ended_by_sigterm,
    run_module,
    set_up_django,
    temporary_folder,
)
from tests.bench.relay_pipeweb import GREETING, MANAGE

MINUTES = 10.0
LOGGED = TypeAdapter(list[Entry])
SCENE = TypeAdapter(Scene)


@dataclass(frozen=True, slots=True)
class Drill:
    """`foreign` are texts that reached somebody who may not read them."""

    expected: Counter[Entry]
    logged: Counter[Entry]
    foreign: list[str]
    faults: list[str]
    seen: Counter[str]


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--minutes", type=positive(float), default=MINUTES, help="default: %(default)s")


def run(given: Mapping[str, Any], say: Say) -> Sequence[Aim]:
    with ended_by_sigterm():
        drill = hold(given["minutes"] * 60)
    say("What they saw and did: " + ", ".join(f"{what} {n:,}" for what, n in sorted(drill.seen.items())))
    by_action: Counter[str] = Counter()
    for entry, count in drill.expected.items():
        by_action[entry.action] += count
    say("What the log must hold: " + ", ".join(f"{what} {n:,}" for what, n in sorted(by_action.items())))
    missing, beyond = drill.expected - drill.logged, drill.logged - drill.expected
    for title, entries in (("missing", missing), ("not expected", beyond)):
        for entry, count in list(entries.items())[:10]:
            say(f"  {title}, {count} times: {entry}")
    for fault in [*drill.foreign, *drill.faults][:10]:
        say(f"  {fault}")
    return aims(drill)


def aims(drill: Drill) -> list[Aim]:
    missing, beyond = drill.expected - drill.logged, drill.logged - drill.expected
    return [
        Aim("entries that the log must hold", 1, drill.expected.total(), is_floor=True),
        Aim("of them missing", 0, missing.total()),
        Aim("entries of what nobody did", 0, beyond.total()),
        Aim(
            "texts of others that were read with a reason", 1, drill.seen["read with a reason"], is_floor=True
        ),
        Aim("texts of others that were read without one", 0, len(drill.foreign)),
        Aim("requests that answered otherwise than they must", 0, len(drill.faults)),
    ]


def hold(seconds: float, least: int = 0) -> Drill:
    """A server of its own, and the five people on it, each with `least` acts. Raises PipewebError."""
    with temporary_folder() as folder:
        data = {"PIPEWEB_DATA": str(folder / "data")}
        with Server("server", MANAGE, GREETING, folder, **data) as server:
            scene = SCENE.validate_json(run_module("people", "enrol", given=b"", limit=START_LIMIT, **data))
            before = Counter(_log(data))
            people = asyncio.run(_live(scene, server.port, seconds, least))
            logged = Counter(_log(data)) - before
        expected = Counter(entry for person in people for entry in person.done)
        seen: Counter[str] = sum((person.seen for person in people), Counter())
        return Drill(
            expected,
            logged,
            [one for person in people for one in person.foreign],
            [one for person in people for one in person.faults],
            seen,
        )


async def _live(scene: Scene, port: int, seconds: float, least: int) -> list[Person]:
    people = everybody(scene, port)
    async with asyncio.TaskGroup() as group:
        for person in people:
            group.create_task(person.live(seconds, least))
    return people


def _log(data: Mapping[str, str]) -> list[Entry]:
    return LOGGED.validate_json(run_module("people", "log", given=b"", limit=START_LIMIT, **data))


def enrol() -> Scene:
    """The five, each with a session that says their mark; passwords are those of `PERSONS`."""
    from django.contrib.auth.models import Permission, User

    from sessions_app.models import Allowance, Session

    sessions, keys, people = {}, {}, {}
    for name, (codes, is_superuser) in PERSONS.items():
        person = User.objects.create_user(
            name, password=f"secret of {name}", is_staff=bool(codes) or is_superuser
        )
        User.objects.filter(pk=person.pk).update(is_superuser=is_superuser)
        rights = Permission.objects.filter(content_type__app_label="sessions_app")
        person.user_permissions.set(
            one for one in rights if any(one.codename.startswith(code) for code in codes)
        )
        session = Session.objects.create(owner=person, model="gemini-3-flash-preview", title=f"mark-{name}")
        sessions[name], keys[name], people[name] = str(session.public), session.pk, person.pk
    spent = User.objects.get(username="spent")
    allowance = Allowance.objects.create(owner=spent, usd_per_day="0.00000001", counts_emulator=True)
    return Scene(sessions, keys, people, allowance.pk)


def log() -> list[Entry]:
    """The rows as they are stored, without times and addresses."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("SELECT action, actor, kind, key, figures FROM sessions_app_auditentry ORDER BY id")
        rows = cursor.fetchall()
    return [
        Entry(action, actor, kind, key, figures_of(action, figures))
        for action, actor, kind, key, figures in rows
    ]


def figures_of(action: str, stored: Any) -> str:
    """JSON in one form, whichever a database gives; of sign-ins nothing is compared but who and when."""
    value = json.loads(stored) if isinstance(stored, str) else stored
    return "{}" if action.startswith("sign") else json.dumps(value, sort_keys=True)


def main(what: str) -> None:
    set_up_django()
    if what == "enrol":
        sys.stdout.buffer.write(SCENE.dump_json(enrol()))
    else:
        sys.stdout.buffer.write(LOGGED.dump_json(log()))


BENCH = Bench(
    "people", "five people with different rights at once, and the audit log of it", add_arguments, run
)

if __name__ == "__main__":
    main(*sys.argv[1:])
