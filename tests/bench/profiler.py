"""A server under cProfile, and its profile as text.

`python -m tests.bench.profiler FILE up --port 0` runs a command of manage.py. It records every thread
from SIGUSR1 on, and writes FILE when the command ends. Time is CPU time of the thread: waiting costs nothing.
"""

import cProfile
import os
import signal
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from operator import add
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

from tests.bench.processes import ROOT

PROFILES_THREADS = sys.version_info < (3, 12)
"""Whether each thread can have a profile of its own: since Python 3.12 there is one for the whole process."""

TOP = 15
OURS = "sessions_app."


class FunctionTime(NamedTuple):
    """One function: how often it was called, seconds in it alone (`own`) and with what it calls (`total`).

    What is written in C belongs to the module that calls it.
    """

    module: str
    function: str
    calls: int
    own: float
    total: float


class ThreadProfiler:
    """One profile per thread: cProfile sees only the thread that enables it."""

    def __init__(self) -> None:
        self._profiles: list[cProfile.Profile] = []
        self._is_on = False
        threading.setprofile(self._enter)

    def start(self, number: int = 0, frame: FrameType | None = None) -> None:
        """A signal handler: the calling thread is recorded from here, the others from their next call."""
        self._is_on = True
        self._record()

    def functions(self) -> list[FunctionTime]:
        """Every function, most own time first.

        Calls that have not returned are left out: another thread's clock would be read for them.
        """
        sums: dict[tuple[str, str], FunctionTime] = {}
        for profile in self._profiles:
            for one in functions_of(profile):
                before = sums.get(one[:2], FunctionTime(*one[:2], 0, 0.0, 0.0))
                sums[one[:2]] = FunctionTime(*one[:2], *map(add, one[2:], before[2:]))
        return sorted(sums.values(), key=lambda one: -one.own)

    def _enter(self, frame: FrameType, event: str, arg: Any) -> None:
        if self._is_on:
            self._record()

    def _record(self) -> None:
        profile = cProfile.Profile(time.thread_time)
        self._profiles.append(profile)
        # Takes the place of `_enter` in this thread.
        profile.enable()


def functions_of(profile: cProfile.Profile) -> Iterator[FunctionTime]:
    for entry in profile.getstats():
        if isinstance(entry.code, str):
            continue
        module = module_of(Path(entry.code.co_filename))
        name = entry.code.co_qualname
        yield FunctionTime(module, name, entry.callcount, entry.inlinetime, entry.totaltime)
        for called in entry.calls or ():
            if isinstance(called.code, str):
                name = c_name(called.code)
                yield FunctionTime(module, name, called.callcount, called.inlinetime, called.totaltime)


def c_name(code: str) -> str:
    """`<method 'execute' of 'sqlite3.Cursor' objects>` without its brackets and address."""
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


def lines_of(functions: Sequence[FunctionTime]) -> list[str]:
    """Shares of all own time: by module, by function, and of our functions with what they call."""
    whole = sum(one.own for one in functions) or 1.0
    modules: dict[str, float] = defaultdict(float)
    groups: dict[str, list[str]] = defaultdict(list)
    for one in functions:
        modules[one.module] += one.own
    for one in functions[:TOP]:
        groups[one.module].append(f"    {one.own / whole:6.1%}  {one.calls:>9,} calls  {one.function}")
    heaviest = sorted(modules.items(), key=lambda item: -item[1])[:TOP]
    ours = sorted((one for one in functions if one.module.startswith(OURS)), key=lambda one: -one.total)
    return [
        "Shares of own time; the profiler makes everything slower, so read shares, not seconds.",
        *(f"  {own / whole:6.1%}  {module}" for module, own in heaviest),
        "Functions by own time, grouped by module:",
        *(line for module, lines in groups.items() for line in (f"  {module}", *lines)),
        "Functions of Pipeweb with what they call:",
        *(f"  {one.total / whole:6.1%}  {one.module} {one.function}" for one in ours[:TOP]),
    ]


def main(path: str, *command: str) -> None:
    from django.core.management import execute_from_command_line

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "pipeweb.settings")
    profiler = ThreadProfiler()
    signal.signal(signal.SIGUSR1, profiler.start)
    try:
        execute_from_command_line(["manage.py", *command])
    finally:
        Path(path).write_text("\n".join(lines_of(profiler.functions())))


if __name__ == "__main__":
    main(*sys.argv[1:])
