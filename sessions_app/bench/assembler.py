"""One size of `bench assembly`: `python -m sessions_app.bench.assembler TURNS REQUESTS`.

Builds a conversation in a database of its own, prepares requests as a run does, and prints the figures
as JSON. Half of the turns are a model's with a signature of 2 KB, as in performance §4.
"""

import base64
import os
import sys
import uuid
from statistics import median
from time import thread_time
from typing import TYPE_CHECKING, Any

import orjson

if TYPE_CHECKING:
    from sessions_app.models import Exchange, Session
    from sessions_app.runs.pipeline import Door

MODEL = "gemini-3-flash-preview"
USER_TEXT, MODEL_TEXT, SIGNATURE = 600, 800, 2_000
"""Bytes."""

WAYS = ("turn by turn", "detached", "detached, cached")


def measure(turns: int, requests: int) -> list[dict[str, Any]]:
    """The figures of each way for a conversation of that length."""
    return [_way(way, turns, requests) for way in WAYS]


def _way(way: str, turns: int, requests: int) -> dict[str, Any]:
    from sessions_app.models import HistoryChunk

    session, door = _session(turns, "adaptive" if way == WAYS[0] else "seed"), _door()
    first, first_cpu = _prepared(session, door)
    if way == WAYS[2]:
        _make_live(first)
    before = _size()
    prepared = [_prepared(session, door) for _ in range(requests)]
    exchanges = [exchange for exchange, _ in prepared]
    return {
        "way": way,
        "turns": turns,
        "ms": [one.build_ms for one in exchanges],
        "cpu": [cpu for _, cpu in prepared],
        "first_ms": first.build_ms,
        "first_cpu": first_cpu,
        "stages": _stages(exchanges),
        "stored": (_size() - before) / requests,
        "body": exchanges[-1].request_size,
        "chunks": HistoryChunk.objects.filter(session=session).count(),
    }


def _session(count: int, policy: str) -> "Session":
    from django.contrib.auth.models import User

    from sessions_app.models import Session
    from sessions_app.models.regrowth import regrow, stand_in
    from sessions_app.prompt import wire
    from sessions_app.prompt.turns import Turn, TurnKind, user_task

    owner = User.objects.create_user(f"talker-{uuid.uuid4().hex[:12]}")
    settings = {"cache_policy": policy, "panels": {}}
    session = Session.objects.create(owner=owner, model=MODEL, title="Bench", settings=settings)
    route = _door().route
    rows = []
    for place in range(count):
        if place % 2:
            signed = {"text": _words(MODEL_TEXT), "thoughtSignature": _signature()}
            value = Turn("", TurnKind.MODEL_RESPONSE, wire.dumps({"role": "model", "parts": [signed]}))
        else:
            value = user_task("", _words(USER_TEXT))
        rows.append(stand_in(session, value, route=route if place % 2 else ""))
    regrow(session, None, rows)
    return session


def _door() -> "Door":
    from pipeweb.composition import build_emulator
    from sessions_app.runs.pipeline import Door

    return Door.of(build_emulator())


def _prepared(session: "Session", door: "Door") -> tuple["Exchange", float]:
    """One request for a new message below the same history, and the ms of CPU that it took."""
    from sessions_app.models import Run, Session
    from sessions_app.runs.draft import prepare
    from sessions_app.runs.start import start_send
    from sessions_app.tools import TOOLBOX

    head = Session.objects.get(pk=session.pk).head
    run = start_send(session.pk, uuid.uuid4(), _words(USER_TEXT), "bench")
    assert run is not None
    began = thread_time()
    exchange = prepare(run, 1, door, TOOLBOX).exchange
    cpu = (thread_time() - began) * 1000
    run.end(Run.Status.COMPLETED)
    run.session.advance(head)
    return exchange, cpu


def _make_live(exchange: "Exchange") -> None:
    """Pretends that the exchange's static layer was made a cache."""
    from datetime import timedelta

    from django.utils import timezone

    from sessions_app.models import CacheEntry

    CacheEntry.objects.claim(exchange.fingerprint, model=exchange.model, route=exchange.route)
    expires = timezone.now() + timedelta(hours=1)
    CacheEntry.objects.remember(exchange.fingerprint, name="cachedContents/bench", tokens=9, expires=expires)


def _stages(exchanges: list["Exchange"]) -> dict[str, float]:
    names = [stage["name"] for stage in exchanges[0].stages]
    return {
        name: median(next(stage["ms"] for stage in one.stages if stage["name"] == name) for one in exchanges)
        for name in names
    }


def _size() -> int:
    """Bytes of the database that are in use, indexes included."""
    from django.db import connection

    with connection.cursor() as cursor:
        pragmas = [f"PRAGMA {name}" for name in ("page_count", "freelist_count", "page_size")]
        pages, free, size = (cursor.execute(pragma).fetchone()[0] for pragma in pragmas)
    return int((pages - free) * size)


def _words(size: int) -> str:
    """Text that packs about as well as what people write."""
    return base64.b32encode(os.urandom(size * 5 // 16)).decode().lower().replace("a", " ") * 2


def _signature() -> str:
    return base64.b64encode(os.urandom(SIGNATURE * 3 // 4)).decode()


def main(turns: str, requests: str) -> None:
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "pipeweb.settings")
    django.setup()
    sys.stdout.buffer.write(orjson.dumps(measure(int(turns), int(requests))))


if __name__ == "__main__":
    main(*sys.argv[1:])
