"""`bench pages`: what the server works for a page, and its HTML.

`python -m tests.bench.pages SESSIONS TURNS ROUNDS` makes them in an empty database and prints a JSON list
of PageTimes (`tests.bench.inspector`). Every page is asked for once in each round, so that all are measured
under the same load; the first page reads nothing and is what the others are compared with.
"""

import sys
import time
from argparse import ArgumentParser
from collections.abc import Mapping, Sequence
from statistics import median
from typing import TYPE_CHECKING, Any

from tests.bench.base import Aim, Bench, Say, positive, ratio
from tests.bench.inspector import PAGES, PageTimes
from tests.bench.processes import empty_database, lift_limits, run_module, set_up_django

if TYPE_CHECKING:
    from django.test import Client

SESSIONS, TURNS, ROUNDS = 60, 12, 15
"""Chats of the list, messages of the chat, and how often each page is read."""

BARE_MS = 1.15
"""CPU of the bare page on the machine that the aims in ms are for."""

CPU_AIMS = {"list": 12.0, "chat": 20.0, "exchange": 10.0}
"""Milliseconds of CPU there; here each is that many times the bare page."""

LIST_AIM = 40.0
"""kB of HTML."""

ANSWER = """Two ways, **both** common:

1. `sorted(values)` makes a new list;
2. `values.sort()` changes the list.

```python
def newest(rows: list[Row]) -> Row:
    return max(rows, key=lambda row: row.made_at)
```

| way | copies | returns |
|---|---|---|
| `sorted` | yes | the list |
| `sort` | no | nothing |
"""
"""Of every message: text, a list, code and a table."""

LIMIT = 600.0
"""Seconds for making the rows and reading all pages."""


def read(sessions: int, turns: int, rounds: int) -> list[PageTimes]:
    """Reads in a process and a database of its own. Raises PipewebError."""
    with empty_database() as folder:
        made = run_module("pages", str(sessions), str(turns), str(rounds), limit=LIMIT, PIPEWEB_DATA=folder)
    return PAGES.validate_json(made)


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--sessions", type=positive(int), default=SESSIONS, help="default: %(default)s")
    parser.add_argument("--turns", type=positive(int), default=TURNS, help="default: %(default)s")
    parser.add_argument("--rounds", type=positive(int), default=ROUNDS, help="default: %(default)s")


def run(given: Mapping[str, Any], say: Say) -> Sequence[Aim]:
    pages = read(given["sessions"], given["turns"], given["rounds"])
    bare = pages[0]
    say("Medians of CPU time in the server's process, of pages that were seen before.")
    say(f"{'page':<12}{'CPU ms':>9}{'×bare':>9}{'queries':>9}{'kB':>9}")
    for page in pages:
        say(
            f"{page.name:<12}{page.cpu:>9.1f}{ratio(page.cpu, bare.cpu):>9.1f}"
            f"{page.queries:>9}{page.size / 1000:>9.1f}"
        )
    return aims(pages)


def aims(pages: Sequence[PageTimes]) -> list[Aim]:
    bare, *own = pages
    cpu = {page.name: ratio(page.cpu, bare.cpu) for page in own}
    size = next((page.size / 1000 for page in own if page.name == "list"), None)
    return [
        *(
            Aim(f"{name}: CPU in bare pages ({ms:g} ms)", round(ms / BARE_MS, 1), cpu.get(name))
            for name, ms in CPU_AIMS.items()
        ),
        Aim("list: kB of HTML", LIST_AIM, size),
    ]


def read_pages(sessions: int, turns: int, rounds: int) -> list[PageTimes]:
    from django.contrib.auth.models import User
    from django.test import Client

    from tests.bench.conversations import add_exchanges, new_session

    owner = User.objects.create_user("bench")
    for number in range(sessions - 1):
        session = new_session(owner)
        session.rename(f"A chat like others, {number}")
        add_exchanges(session, 1)
    chat = new_session(owner)
    add_exchanges(chat, turns, answer=ANSWER)
    stranger, client = Client(SERVER_NAME="localhost"), Client(SERVER_NAME="localhost")
    client.force_login(owner)
    return measure(
        {
            "bare": (stranger, "/sign-in"),
            "list": (client, "/sessions/"),
            "chat": (client, f"/s/{chat.public}/"),
            "inspector": (client, f"/s/{chat.public}/inspect/"),
            "exchange": (client, f"/s/{chat.public}/inspect/{turns}/"),
        },
        rounds,
    )


def measure(pages: Mapping[str, tuple["Client", str]], rounds: int) -> list[PageTimes]:
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    seen: dict[str, tuple[int, int]] = {}
    for name, (client, path) in pages.items():
        with CaptureQueriesContext(connection) as queries:
            response = client.get(path)
            count = len(queries)
        if response.status_code != 200:
            raise SystemExit(f"{path} answered {response.status_code}")
        seen[name] = count, len(response.content)
    ms: dict[str, list[float]] = {name: [] for name in pages}
    cpu: dict[str, list[float]] = {name: [] for name in pages}
    for _ in range(rounds):
        for name, (client, path) in pages.items():
            began, worked = time.perf_counter(), time.process_time()
            client.get(path)
            ms[name].append((time.perf_counter() - began) * 1000)
            cpu[name].append((time.process_time() - worked) * 1000)
    return [PageTimes(name, median(ms[name]), median(cpu[name]), *seen[name]) for name in pages]


def main(sessions: str, turns: str, rounds: str) -> None:
    set_up_django()
    from django.conf import settings

    # Otherwise every query is kept for the debugger, and its time is measured too.
    settings.DEBUG = False
    lift_limits()
    sys.stdout.buffer.write(PAGES.dump_json(read_pages(int(sessions), int(turns), int(rounds))))


BENCH = Bench("pages", "CPU and HTML of the list, a chat and an exchange", add_arguments, run)

if __name__ == "__main__":
    main(*sys.argv[1:])
