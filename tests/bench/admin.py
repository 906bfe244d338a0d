"""`bench admin`: how long the lists of the admin and its overview take with 100,000 exchanges.

`python -m tests.bench.admin EXCHANGES REPEATS` fills an empty database, follows every link of each list that
filters, sorts or pages it, searches, opens a row, and prints a JSON list of Page.
"""

import re
import sys
import time
from argparse import ArgumentParser
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from html import unescape
from itertools import groupby
from statistics import median
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter

from tests.bench.base import Aim, Bench, Say, positive
from tests.bench.hostile import new_database
from tests.bench.processes import empty_database, run_module, set_up_django
from tests.deployment import postgres

if TYPE_CHECKING:
    from django.test import Client

EXCHANGES, REPEATS = 100_000, 3
FEW = 5_000
"""Exchanges of the installation with whose queries those of each page are compared."""

AIM = 150.0
"""Milliseconds of server time."""

LIMIT = 1_500.0
"""Seconds for filling a database and reading all pages."""

SEARCHED = ("person-00", "gemini-2.5-pro", "no-such-word")
DATABASES = ("sqlite", "postgres")
LINK = re.compile(r'href="(\?[^"]+)"')


@dataclass(frozen=True, slots=True)
class Page:
    """`ms` is the median of its server time."""

    place: str
    kind: str
    query: str
    ms: float
    queries: int

    @property
    def name(self) -> str:
        return f"{self.place} {self.query}".strip()


PAGES = TypeAdapter(list[Page])


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--exchanges", type=positive(int), default=EXCHANGES, help="default: %(default)s")
    parser.add_argument(
        "--repeats", type=positive(int), default=REPEATS, help="of a page (default: %(default)s)"
    )
    parser.add_argument("--databases", type=lambda text: text.split(","), help="sqlite,postgres")
    parser.add_argument("--every", action="store_true", help="a line for each page")


def run(given: Mapping[str, Any], say: Say) -> Sequence[Aim]:
    found = []
    for database in given["databases"] or DATABASES:
        if database == "postgres" and not postgres.is_possible():
            say("There is no PostgreSQL here: its figures are left out.")
            continue
        few, pages = read(database, FEW, 1), read(database, given["exchanges"], given["repeats"])
        say(f"{database}: medians of server time of {given['repeats']}, {len(pages)} pages")
        for line in lines(pages, given["every"]):
            say(line)
        found += aims(database, few, pages)
    return found


def read(database: str, exchanges: int, repeats: int, *places: str) -> list[Page]:
    """Reads in a process and a database of its own: the lists named, or all. Raises PipewebError."""
    with ExitStack() as stack:
        variables = {}
        if database == "postgres":
            variables["DATABASE_URL"] = stack.enter_context(new_database())
        folder = stack.enter_context(empty_database(**variables))
        arguments = (str(exchanges), str(repeats), *places)
        printed = run_module("admin", *arguments, given=b"", limit=LIMIT, PIPEWEB_DATA=folder, **variables)
    return PAGES.validate_json(printed)


def lines(pages: Sequence[Page], every: bool) -> Iterator[str]:
    """The plain list of each, and the slowest page of each other kind."""
    yield f"{'list':<20}{'kind':<9}{'pages':>6}{'median ms':>11}{'slowest':>9}{'queries':>9}"
    for (place, kind), own in groupby(pages, key=lambda page: (page.place, page.kind)):
        group = sorted(own, key=lambda page: page.ms)
        worst = group[-1]
        figures = f"{median(page.ms for page in group):>11.1f}{worst.ms:>9.1f}{worst.queries:>9}"
        yield f"{place:<20}{kind:<9}{len(group):>6}{figures}  {worst.query}"
        if every:
            yield from (f"    {page.ms:>8.1f} ms  {page.queries:>3}  {page.query}" for page in group)


def aims(database: str, few: Sequence[Page], pages: Sequence[Page]) -> list[Aim]:
    slowest = max(pages, key=lambda page: page.ms)
    before = {page.name: page.queries for page in few}
    growth, name = max((page.queries - before.get(page.name, page.queries), page.name) for page in pages)
    return [
        Aim(f"{database}, slowest page, ms ({slowest.name})", AIM, slowest.ms),
        Aim(f"{database}, queries of a page beyond those with {FEW:,} exchanges ({name})", 0, growth),
    ]


def lists() -> list[tuple[str, str]]:
    """(name, path) of every list of the admin."""
    from django.contrib import admin
    from django.urls import reverse

    metas = [model._meta for model in admin.site._registry]
    return [
        (one.model_name or "", reverse(f"admin:{one.app_label}_{one.model_name}_changelist")) for one in metas
    ]


def pages_of(client: "Client", path: str) -> list[tuple[str, str]]:
    """(kind, query) of each page that a list leads to: its own links, the other way round, and searches."""
    html = client.get(path).content.decode()
    queries = dict.fromkeys(unescape(link) for link in LINK.findall(html))
    found = [("plain", "")]
    for query in queries:
        found.append((kind_of(query), query))
        if re.fullmatch(r"\?o=\d+(\..*)?", query):
            found.append(("sort", query.replace("=", "=-")))
    if 'id="searchbar"' in html:
        found += [("search", f"?q={word}") for word in SEARCHED]
    row = re.search(rf'href="({re.escape(path)}[^"?]+/change/)', html)
    if row:
        found.append(("row", row[1].removeprefix(path)))
    return sorted(dict.fromkeys(found), key=lambda page: page[0])


def kind_of(query: str) -> str:
    names = {"o": "sort", "p": "page", "_facets": "counts"}
    return names.get(query[1:].partition("=")[0], "filter")


def read_pages(exchanges: int, repeats: int, places: Collection[str]) -> list[Page]:
    from django.contrib.auth.models import User
    from django.test import Client

    from tests.bench.admin_rows import Installation

    client = Client(SERVER_NAME="localhost")
    client.force_login(User.objects.create_superuser("bench"))
    Installation(exchanges).add(exchanges)
    prepare_statistics()
    return [
        Page(place, kind, "a row" if kind == "row" else query, *measured(client, path, repeats))
        for place, kind, query, path in all_pages(client, places)
    ]


def all_pages(client: "Client", places: Collection[str] = ()) -> list[tuple[str, str, str, str]]:
    """(list, kind, query, path) of the overview and of each page of the lists, all or those named."""
    found = [("overview", "plain", "", "/admin/")]
    for name, path in lists():
        if places and name not in places:
            continue
        found += [(name, kind, query, path + query) for kind, query in pages_of(client, path)]
    return found


def prepare_statistics() -> None:
    """What a database that is in use has by itself: PostgreSQL's autovacuum, SQLite's optimize."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("ANALYZE" if connection.vendor == "postgresql" else "PRAGMA optimize")


def measured(client: "Client", path: str, repeats: int) -> tuple[float, int]:
    """The median of so many times in ms, and the queries of a process that remembers no rows yet."""
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    from sessions_app.context.model_lookup import clear_caches

    clear_caches()
    with CaptureQueriesContext(connection) as captured:
        response = client.get(path)
        # The next request begins its own count.
        count = len(captured)
    if response.status_code != 200:
        raise SystemExit(f"{path} answered {response.status_code}")
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        client.get(path)
        times.append((time.perf_counter() - began) * 1000)
    return median(times), count


def main(exchanges: str, repeats: str, *places: str) -> None:
    set_up_django()
    from django.conf import settings

    # Otherwise every query is kept for the debugger, and its time is measured too.
    settings.DEBUG = False
    sys.stdout.buffer.write(PAGES.dump_json(read_pages(int(exchanges), int(repeats), places)))


BENCH = Bench("admin", "lists and overview of the admin with 100,000 exchanges", add_arguments, run)

if __name__ == "__main__":
    main(*sys.argv[1:])
