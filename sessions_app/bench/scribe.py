"""One writing process of `bench writers`: `python -m sessions_app.bench.scribe SECONDS [plain]`.

It stores turns as a run does: a message, three flushes of chunks, an end. With `plain` it uses Django's own
settings of SQLite instead of ours. Prints its figures as JSON.
"""

import os
import sys
import time
import uuid
from typing import Any

import orjson

CHUNKS = 10
FLUSHES = 3


def write_for(seconds: float) -> dict[str, Any]:
    """Stores turns until the time is over; a turn that the database refused counts as locked."""
    from django.contrib.auth.models import User
    from django.db import OperationalError

    from sessions_app.models import Session

    owner = User.objects.create_user(f"scribe-{uuid.uuid4().hex[:12]}")
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
    return {"turns": len(times), "locked": locked, "ms": times}


def write_turn(session_pk: int) -> None:
    from sessions_app.models import Exchange, Run
    from sessions_app.prompt.reply import Outcome
    from sessions_app.runs.settle import complete
    from sessions_app.runs.start import start_send
    from sessions_app.runs.writer import commit

    Run.objects.active().filter(session_id=session_pk).update(status=Run.Status.FAILED)
    run = start_send(session_pk, uuid.uuid4(), "What is the weather like?", "scribe")
    if run is None:
        return
    number = Exchange.objects.filter(session_id=session_pk).count() + 1
    exchange = Exchange.objects.create(
        session_id=session_pk, run=run, number=number, step=1, model="none", request_size=0
    )
    for flush in range(FLUSHES):
        rows = [(exchange.pk, flush * CHUNKS + seq, 0.0, b'{"text":"rain"}' * 20) for seq in range(CHUNKS)]
        commit(rows, [])
    complete(run, Outcome.COMPLETE, 0, 0)


def use_plain_sqlite() -> None:
    """What Django does when nothing is set: a rollback journal, and locks taken at the first write."""
    from django.conf import settings
    from django.db import connection

    settings.DATABASES["default"]["OPTIONS"] = {}
    connection.settings_dict["OPTIONS"] = {}
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA journal_mode=DELETE")


def main(seconds: str, plain: str = "") -> None:
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "pipeweb.settings")
    django.setup()
    if plain:
        use_plain_sqlite()
    sys.stdout.buffer.write(orjson.dumps(write_for(float(seconds))))


if __name__ == "__main__":
    main(*sys.argv[1:])
