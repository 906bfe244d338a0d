"""`bench inspector`: how long its pages take on a long session and on a request of a megabyte.

`python -m tests.bench.inspector EXCHANGES REPEATS` builds the sessions in an empty database, asks for
every page as a browser would, and prints a JSON list of PageTimes.
"""

import re
import sys
import time
from argparse import ArgumentParser
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter

from tests.bench.base import Aim, Bench, Say, ratio
from tests.bench.processes import empty_database, run_module, set_up_django

if TYPE_CHECKING:
    from django.test import Client

EXCHANGES = 1000
REPEATS = 7
SHORT = 200
"""Exchanges of the session that the long one is compared with."""

LARGE_QUESTION = 270_000
"""Bytes of each message of the session whose fifth request is above a megabyte."""

BACKGROUND = 9_000
"""Bytes in the static layer of every session."""

LIMIT = 600.0
"""Seconds for building the sessions and reading all pages."""


@dataclass(frozen=True, slots=True)
class PageTimes:
    """One page as it was served: `ms` is the median by the clock, `cpu` by what the process worked.

    On an idle machine the two are nearly the same; `size` is bytes of HTML.
    """

    name: str
    ms: float
    cpu: float
    queries: int
    size: int

    @property
    def is_large(self) -> bool:
        return self.name.endswith("1 MB")

    @property
    def is_search(self) -> bool:
        return self.name.startswith("search")


PAGES = TypeAdapter(list[PageTimes])
HEADING = f"{'page':<22}{'ms':>9}{'CPU ms':>9}{'×bare':>9}{'queries':>9}{'kB':>9}"


def read(exchanges: int, repeats: int) -> list[PageTimes]:
    """Reads in a process and a database of its own; the first page is a bare one. Raises PipewebError."""
    with empty_database() as folder:
        printed = run_module("inspector", str(exchanges), str(repeats), limit=LIMIT, PIPEWEB_DATA=folder)
    return PAGES.validate_json(printed)


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--exchanges", type=int, default=EXCHANGES, help="default: %(default)s")
    parser.add_argument("--repeats", type=int, default=REPEATS, help="of each page (default: %(default)s)")


def run(given: Mapping[str, Any], say: Say) -> Sequence[Aim]:
    pages = read(given["exchanges"], given["repeats"])
    say("Medians of server time; ratios are of CPU, to a page that reads nothing.")
    say(HEADING)
    for page in pages:
        say(
            f"{page.name:<22}{page.ms:>9.1f}{page.cpu:>9.1f}{ratio(page.cpu, pages[0].cpu):>9.1f}"
            f"{page.queries:>9}{page.size / 1000:>9.0f}"
        )
    return aims(pages)


def aims(pages: Sequence[PageTimes]) -> list[Aim]:
    own = [page for page in pages[1:] if not page.is_search]
    lists = [page.queries for page in pages if page.name.startswith("list")]
    small = max((page.cpu for page in own if not page.is_large), default=None)
    large = max((page.cpu for page in own if page.is_large), default=None)
    searching = next((page.cpu for page in pages if page.is_search), None)
    growth = lists[-1] - lists[0] if lists else None
    return [
        Aim("slowest page of the long session, ms of CPU", 100, small),
        Aim("searching the long session, ms of CPU", 250, searching),
        Aim("slowest tab of the 1 MB exchange, ms of CPU", 250, large),
        Aim("queries the list needs beyond the short session's", 0, growth),
    ]


def read_pages(exchanges: int, repeats: int) -> list[PageTimes]:
    from django.contrib.auth.models import User
    from django.test import Client

    from tests.bench.conversations import add_exchanges, new_session

    owner = User.objects.create_user("bench")
    short, long, large = (new_session(owner, background=BACKGROUND, cache_policy="seed") for _ in range(3))
    add_exchanges(short, SHORT)
    add_exchanges(long, exchanges)
    add_exchanges(large, 5, question=LARGE_QUESTION)
    stranger, client = Client(SERVER_NAME="localhost"), Client(SERVER_NAME="localhost")
    client.force_login(owner)
    tabs = tabs_of(client.get(f"/s/{short.public}/inspect/1/").content)
    pages = [
        (f"list, {SHORT}", f"/s/{short.public}/inspect/"),
        (f"list, {exchanges}", f"/s/{long.public}/inspect/"),
        (f"search, {exchanges}", f"/s/{long.public}/inspect/?q=taxi"),
        *((f"{tab}, first", f"/s/{long.public}/inspect/1/?tab={tab}") for tab in tabs),
        *((f"{tab}, last", f"/s/{long.public}/inspect/{exchanges}/?tab={tab}") for tab in tabs),
        *((f"{tab}, 1 MB", f"/s/{large.public}/inspect/5/?tab={tab}") for tab in tabs),
    ]
    bare = measure(stranger, "bare page", "/sign-in", repeats)
    return [bare, *(measure(client, name, path, repeats) for name, path in pages)]


def tabs_of(page: bytes) -> list[str]:
    """The names of the tabs that an exchange's page links to, in their order."""
    return list(dict.fromkeys(re.findall(r'data-tab="([a-z_]+)"', page.decode())))


def measure(client: "Client", name: str, path: str, repeats: int) -> PageTimes:
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    with CaptureQueriesContext(connection) as queries:
        response = client.get(path)
        # The next request begins its own count.
        count = len(queries)
    if response.status_code != 200:
        raise SystemExit(f"{path} answered {response.status_code}")
    ms, cpu = [], []
    for _ in range(repeats):
        began, worked = time.perf_counter(), time.process_time()
        client.get(path)
        ms.append((time.perf_counter() - began) * 1000)
        cpu.append((time.process_time() - worked) * 1000)
    return PageTimes(name, median(ms), median(cpu), count, len(response.content))


def main(exchanges: str, repeats: str) -> None:
    set_up_django()
    from django.conf import settings

    # Otherwise every query is kept for the debugger, and its time is measured too.
    settings.DEBUG = False
    sys.stdout.buffer.write(PAGES.dump_json(read_pages(int(exchanges), int(repeats))))


BENCH = Bench("inspector", "pages of a long session and of a megabyte request", add_arguments, run)

if __name__ == "__main__":
    main(*sys.argv[1:])
