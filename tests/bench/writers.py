"""`bench writers`: several processes store turns in one SQLite file, with our settings and Django's own.

`python -m tests.bench.writers SECONDS [plain]` is one of these processes: it stores turns as a run
does (a message, three flushes of chunks, an end). With `plain` it uses Django's own settings of SQLite.
"""

import sys
import time
import uuid
from argparse import ArgumentParser
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from statistics import median
from typing import Any

import orjson

from tests.bench.base import Aim, Bench, Say, percentile
from tests.bench.processes import START_LIMIT, empty_database, run_module, set_up_django

WRITERS = 4
SECONDS = 20.0
CHUNKS = 10
FLUSHES = 3


@dataclass(frozen=True, slots=True)
class WriterTimes:
    """What all writers of one setting did; `ms` per turn, `locked` turns that SQLite refused."""

    locked: int
    ms: Sequence[float]
    seconds: float

    def line(self, name: str) -> str:
        turns = len(self.ms)
        return (
            f"{name:<16}{turns:>8}{turns / self.seconds:>10.0f}{self.locked:>10}"
            f"{median(self.ms):>10.1f}{percentile(self.ms, 99):>10.1f}{max(self.ms):>10.1f}"
        )


def write(writers: int, seconds: float, *, plain: bool) -> WriterTimes:
    """Runs that many writing processes on an empty database. Raises PipewebError."""
    arguments = (str(seconds), *(["plain"] if plain else []))
    with empty_database() as folder, ThreadPoolExecutor(writers) as threads:
        answers = [
            threads.submit(
                run_module, "writers", *arguments, limit=seconds + START_LIMIT, PIPEWEB_DATA=folder
            )
            for _ in range(writers)
        ]
        done = [orjson.loads(answer.result()) for answer in answers]
    ms = [one for writer in done for one in writer["ms"]]
    return WriterTimes(sum(writer["locked"] for writer in done), ms, seconds)


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--writers", type=int, default=WRITERS, help="processes (default: %(default)s)")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="of load (default: %(default)s)")
    parser.add_argument(
        "--baseline", type=float, help="seconds for Django's own settings (default: the same)"
    )


def run(given: Mapping[str, Any], say: Say) -> Sequence[Aim]:
    writers, seconds = given["writers"], given["seconds"]
    ours = write(writers, seconds, plain=False)
    plain = write(writers, given.get("baseline") or seconds, plain=True)
    say(f"{writers} processes, {seconds:.0f} s; ms per turn")
    say(f"{'':<16}{'turns':>8}{'a second':>10}{'locked':>10}{'p50':>10}{'p99':>10}{'longest':>10}")
    say(ours.line("ours"))
    say(plain.line("Django's own"))
    return [Aim("turns that SQLite refused with our settings", 0, ours.locked)]


def write_for(seconds: float) -> dict[str, Any]:
    """Stores turns until the time is over; a turn that the database refused counts as locked."""
    from django.contrib.auth.models import User
    from django.db import OperationalError

    from sessions_app.models import Session

    owner = User.objects.create_user(f"writer-{uuid.uuid4().hex[:12]}")
    session = Session.objects.create(owner=owner, model="gemini-3-flash-preview")
    times: list[float] = []
    locked = 0
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        began = time.perf_counter()
        try:
            write_turn(session.pk)
        except OperationalError:
            locked += 1
        times.append((time.perf_counter() - began) * 1000)
    return {"locked": locked, "ms": times}


def write_turn(session_pk: int) -> None:
    from sessions_app.models import Exchange, Run
    from sessions_app.prompt.reply import Outcome
    from sessions_app.runs.completion import LastEvent, complete_run
    from sessions_app.runs.start import start_send
    from sessions_app.runs.writer import commit

    Run.objects.active().filter(session_id=session_pk).update(status=Run.Status.FAILED)
    run = start_send(session_pk, uuid.uuid4(), "What is the weather like?", "bench")
    if run is None:
        return
    number = Exchange.objects.filter(session_id=session_pk).count() + 1
    exchange = Exchange.objects.create(
        session_id=session_pk, run=run, number=number, step=1, model="none", request_size=0
    )
    for flush in range(FLUSHES):
        rows = [(exchange.pk, flush * CHUNKS + seq, 0.0, b'{"text":"rain"}' * 20) for seq in range(CHUNKS)]
        commit(rows, [])
    complete_run(run, Outcome.COMPLETE, LastEvent(0, 0), exchange)


def use_plain_sqlite() -> None:
    """Django's defaults: a rollback journal, and locks taken at the first write."""
    from django.conf import settings
    from django.db import connection

    settings.DATABASES["default"]["OPTIONS"] = {}
    connection.settings_dict["OPTIONS"] = {}
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA journal_mode=DELETE")


def main(seconds: str, plain: str = "") -> None:
    set_up_django()
    if plain:
        use_plain_sqlite()
    sys.stdout.buffer.write(orjson.dumps(write_for(float(seconds))))


BENCH = Bench("writers", "several processes writing one SQLite file: is it ever locked?", add_arguments, run)

if __name__ == "__main__":
    main(*sys.argv[1:])
