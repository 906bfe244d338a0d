"""`bench inspector`: how long its pages take on a long session and on a request of a megabyte."""

import tempfile
from argparse import ArgumentParser
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from sessions_app.bench.figures import ratio
from sessions_app.bench.processes import migrated, run_module
from sessions_app.bench.registry import Bench, Say
from sessions_app.bench.report import Aim, aim_line

EXCHANGES = 1000
REPEATS = 7
LIMIT = 300.0
"""Seconds for building the sessions and reading all pages."""


@dataclass(frozen=True, slots=True)
class Page:
    """One page as it was served: `ms` is the median by the clock, `cpu` by what the process worked.

    On an idle machine the two are nearly the same; `size` is bytes of HTML.
    """

    name: str
    ms: float
    cpu: float
    queries: int
    size: int

    @property
    def scene(self) -> str:
        """Which session it was of: `1000`, `first`, `1 MB`."""
        return self.name.partition(", ")[2]


class Pages:
    """All pages of one process; the first is the bare one that the others are compared with."""

    def __init__(self, pages: Sequence[Page]) -> None:
        self.pages = pages

    def lines(self) -> list[str]:
        return [HEADING, *(self._line(page) for page in self.pages)]

    def aims(self) -> list[Aim]:
        return [
            Aim("slowest page of the long session, ms of CPU", 100, self._slowest("1 MB", of_it=False)),
            Aim("searching the long session, ms of CPU", 250, self._searching()),
            Aim("slowest tab of the 1 MB exchange, ms of CPU", 250, self._slowest("1 MB", of_it=True)),
            Aim("queries the list needs beyond the short session's", 0, self._growth()),
        ]

    def _line(self, page: Page) -> str:
        base = self.pages[0].cpu
        return (
            f"{page.name:<22}{page.ms:>9.1f}{page.cpu:>9.1f}{ratio(page.cpu, base):>9.1f}"
            f"{page.queries:>9}{page.size / 1000:>9.0f}"
        )

    def _slowest(self, scene: str, *, of_it: bool) -> float | None:
        pages = [page for page in self.pages[1:] if not page.name.startswith("search")]
        return max((page.cpu for page in pages if (page.scene == scene) is of_it), default=None)

    def _searching(self) -> float | None:
        return next((page.cpu for page in self.pages if page.name.startswith("search")), None)

    def _growth(self) -> float | None:
        lists = [page.queries for page in self.pages if page.name.startswith("list")]
        return lists[-1] - lists[0] if lists else None


HEADING = f"{'page':<22}{'ms':>9}{'CPU ms':>9}{'×bare':>9}{'queries':>9}{'kB':>9}"


def read(exchanges: int, repeats: int) -> Pages:
    """Reads in a process and a database of its own. Raises PipewebError."""
    with tempfile.TemporaryDirectory(prefix="pipeweb-bench-") as folder:
        migrated(folder)
        told = run_module("reader", str(exchanges), str(repeats), limit=LIMIT, PIPEWEB_DATA=folder)
    return Pages([Page(**one) for one in orjson.loads(told)])


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--exchanges", type=int, default=EXCHANGES, help="default: %(default)s")
    parser.add_argument("--repeats", type=int, default=REPEATS, help="of each page (default: %(default)s)")


def run(given: Mapping[str, Any], say: Say) -> None:
    pages = read(given["exchanges"], given["repeats"])
    say("Medians of server time; ratios are of CPU, to a page that reads nothing.")
    for line in pages.lines():
        say(line)
    for aim in pages.aims():
        say(aim_line(aim))


BENCH = Bench("inspector", "pages of a long session and of a megabyte request", add_arguments, run)
