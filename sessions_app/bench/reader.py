"""One reading process of `bench inspector`: `python -m sessions_app.bench.reader EXCHANGES REPEATS`.

Builds its sessions in the empty database of its data folder, asks for every page of the inspector as a
browser would, and prints the figures as JSON.
"""

import os
import sys
import time
from statistics import median
from typing import TYPE_CHECKING, Any

import orjson

if TYPE_CHECKING:
    from django.test import Client

SMALL = 200
"""Exchanges of the session that the large one is compared with."""

MEGABYTE_WORDS = 45_000
"""Words a message of the session whose last request is above a megabyte."""


def read_pages(exchanges: int, repeats: int) -> list[dict[str, Any]]:
    """Name, median ms, median ms of CPU, queries and bytes of every page."""
    from django.contrib.auth.models import User

    from sessions_app.bench.library import build_session
    from sessions_app.inspector.tabs import TABS

    owner = User.objects.create_user("bench")
    small, large = build_session(owner, SMALL), build_session(owner, exchanges)
    heavy = build_session(owner, 5, words=MEGABYTE_WORDS)
    pages = [(f"list, {SMALL}", f"/s/{small.public}/inspect/")]
    pages += [(f"list, {exchanges}", f"/s/{large.public}/inspect/")]
    pages += [(f"search, {exchanges}", f"/s/{large.public}/inspect/?q=taxi")]
    pages += [(f"{tab.id}, first", f"/s/{large.public}/inspect/1/?tab={tab.id}") for tab in TABS]
    pages += [(f"{tab.id}, last", f"/s/{large.public}/inspect/{exchanges}/?tab={tab.id}") for tab in TABS]
    pages += [(f"{tab.id}, 1 MB", f"/s/{heavy.public}/inspect/5/?tab={tab.id}") for tab in TABS]
    nobody, client = _clients(owner)
    bare = measure(nobody, "bare page", "/sign-in", repeats)
    return [bare, *(measure(client, name, path, repeats) for name, path in pages)]


def measure(client: "Client", name: str, path: str, repeats: int) -> dict[str, Any]:
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    with CaptureQueriesContext(connection) as queries:
        response = client.get(path)
        # The next request begins its own count.
        count = len(queries)
    if response.status_code != 200:
        raise SystemExit(f"{path} answered {response.status_code}")
    times, cpu = [], []
    for _ in range(repeats):
        began, worked = time.perf_counter(), time.process_time()
        client.get(path)
        times.append((time.perf_counter() - began) * 1000)
        cpu.append((time.process_time() - worked) * 1000)
    size = len(response.content)
    return {"name": name, "ms": median(times), "cpu": median(cpu), "queries": count, "size": size}


def _clients(owner: Any) -> tuple["Client", "Client"]:
    """A browser of nobody and one of the sessions' owner."""
    from django.test import Client

    nobody, client = Client(SERVER_NAME="localhost"), Client(SERVER_NAME="localhost")
    client.force_login(owner)
    return nobody, client


def main(exchanges: str, repeats: str) -> None:
    import django
    from django.conf import settings

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "pipeweb.settings")
    django.setup()
    # Otherwise every query is kept for the debugger, and its time is measured too.
    settings.DEBUG = False
    sys.stdout.buffer.write(orjson.dumps(read_pages(int(exchanges), int(repeats))))


if __name__ == "__main__":
    main(*sys.argv[1:])
