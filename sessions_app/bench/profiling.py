"""A server under cProfile, and its profile as text.

`python -m sessions_app.bench.profiling FILE up --port 0` runs a command of manage.py. It records from
SIGUSR1 on, every thread, and writes FILE when the command ends. Time is CPU time of the thread, so that
waiting costs nothing.
"""

import cProfile
import os
import signal
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from operator import add
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

from pydantic import TypeAdapter

from sessions_app.bench.processes import ROOT

TOP = 15
OURS = "sessions_app."


class Row(NamedTuple):
    """One function: how often it was called, seconds in it alone (`own`) and with what it calls (`total`).

    What is written in C belongs to the module that calls it.
    """

    module: str
    function: str
    calls: int
    own: float
    total: float


ROWS = TypeAdapter(list[Row])


class Recording:
    """One profile per thread: cProfile sees only the thread that enables it."""

    def __init__(self) -> None:
        self._profiles: list[cProfile.Profile] = []
        self._is_on = False
        threading.setprofile(self._enter)

    def start(self, number: int, frame: FrameType | None) -> None:
        """A signal handler: the calling thread is recorded from here, the others from their next call."""
        self._is_on = True
        self._record()

    def rows(self) -> list[Row]:
        """Every function, most own time first.

        Calls that have not returned are left out: another thread's clock would be read for them.
        """
        sums: dict[tuple[str, str], Row] = {}
        for profile in self._profiles:
            for row in rows_of(profile):
                before = sums.get(row[:2], Row(row.module, row.function, 0, 0.0, 0.0))
                sums[row[:2]] = Row(*row[:2], *map(add, row[2:], before[2:]))
        return sorted(sums.values(), key=lambda row: -row.own)

    def _enter(self, frame: FrameType, event: str, arg: Any) -> None:
        if self._is_on:
            self._record()

    def _record(self) -> None:
        profile = cProfile.Profile(time.thread_time)
        self._profiles.append(profile)
        # Takes the place of `_enter` in this thread.
        profile.enable()


def rows_of(profile: cProfile.Profile) -> Iterator[Row]:
    for entry in profile.getstats():
        if isinstance(entry.code, str):
            continue
        module = module_of(Path(entry.code.co_filename))
        yield Row(module, entry.code.co_qualname, entry.callcount, entry.inlinetime, entry.totaltime)
        for called in entry.calls or ():
            if isinstance(called.code, str):
                name = c_name(called.code)
                yield Row(module, name, called.callcount, called.inlinetime, called.totaltime)


def c_name(code: str) -> str:
    """`<method 'execute' of 'sqlite3.Cursor' objects>` without what is noise here."""
    return code.strip("<>").partition(" at 0x")[0].removeprefix("built-in method ")


def module_of(file: Path) -> str:
    """The three outermost names of a module: enough to tell parts apart, few enough to add up."""
    parts = file.parts
    for mark in ("site-packages", f"python{sys.version_info.major}.{sys.version_info.minor}"):
        if mark in parts:
            return ".".join(parts[parts.index(mark) + 1 :][:3]).removesuffix(".py")
    if file.is_relative_to(ROOT):
        parts = file.relative_to(ROOT).parts
    return ".".join(parts[:3]).removesuffix(".py")


def lines_of(rows: list[Row]) -> list[str]:
    """Shares of all own time: by module, by function, and of our functions with what they call."""
    total = sum(row.own for row in rows) or 1.0
    modules: dict[str, float] = defaultdict(float)
    for row in rows:
        modules[row.module] += row.own
    ours = sorted((row for row in rows if row.module.startswith(OURS)), key=lambda row: -row.total)
    heaviest = sorted(modules.items(), key=lambda item: -item[1])[:TOP]
    return [
        "Shares of own time; the profiler makes everything slower, so read shares, not seconds.",
        *(f"  {own / total:6.1%}  {module}" for module, own in heaviest),
        "Functions by own time, grouped by module:",
        *_grouped(rows[:TOP], total),
        "Functions of Pipeweb with what they call:",
        *(f"  {row.total / total:6.1%}  {row.module} {row.function}" for row in ours[:TOP]),
    ]


def _grouped(rows: list[Row], total: float) -> list[str]:
    groups: dict[str, list[str]] = defaultdict(list)
    for row in rows:
        groups[row.module].append(f"    {row.own / total:6.1%}  {row.calls:>9,} calls  {row.function}")
    return [line for module, lines in groups.items() for line in (f"  {module}", *lines)]


def main(path: str, *command: str) -> None:
    from django.core.management import execute_from_command_line

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "pipeweb.settings")
    recording = Recording()
    signal.signal(signal.SIGUSR1, recording.start)
    try:
        execute_from_command_line(["manage.py", *command])
    finally:
        Path(path).write_bytes(ROWS.dump_json(recording.rows()))


if __name__ == "__main__":
    main(*sys.argv[1:])
