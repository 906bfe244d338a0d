import asyncio.events
import cProfile
import threading
import time
from pathlib import Path

import pytest

from tests.bench.processes import ROOT
from tests.bench.profiler import (
    PROFILES_THREADS,
    FunctionTime,
    ThreadProfiler,
    c_name,
    functions_of,
    lines_of,
    module_of,
)

profiles_threads = pytest.mark.skipif(not PROFILES_THREADS, reason="one profile for all threads")


def work() -> int:
    return sum(number * number for number in range(20_000))


@pytest.mark.parametrize(
    ("file", "module"),
    [
        (ROOT / "sessions_app/runs/engine.py", "sessions_app.runs.engine"),
        (ROOT / ".venv/lib/site-packages/django/db/models/query.py", "django.db.models"),
        (Path(asyncio.events.__file__), "asyncio.events"),
    ],
)
def test_a_place_is_called_as_it_is_imported(file: Path, module: str) -> None:
    assert module_of(file) == module


def test_code_in_c_keeps_its_name_and_loses_its_address() -> None:
    assert c_name("<function Cursor.execute at 0x7f97dd1cad40>") == "function Cursor.execute"
    assert c_name("<built-in method builtins.len>") == "builtins.len"


def test_what_c_takes_belongs_to_the_module_that_calls_it() -> None:
    profile = cProfile.Profile(time.thread_time)
    profile.runcall(work)
    (found,) = [row for row in functions_of(profile) if row.function == "builtins.sum"]
    assert (found.module, found.calls) == ("tests.bench.test_profiler", 1)


@profiles_threads
def test_threads_that_start_or_wait_are_recorded_too() -> None:
    profiler = ThreadProfiler()
    profiler._is_on = True
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    threading.setprofile(None)
    assert "work" in {row.function for row in profiler.functions()}


@profiles_threads
def test_waiting_costs_nothing() -> None:
    profiler = ThreadProfiler()
    profiler._is_on = True
    thread = threading.Thread(target=time.sleep, args=(0.1,))
    thread.start()
    thread.join()
    threading.setprofile(None)
    assert sum(row.own for row in profiler.functions()) < 0.05


def test_shares_come_first_and_functions_below_their_module() -> None:
    rows = [
        FunctionTime("a.b", "slow", 10, 3.0, 3.0),
        FunctionTime("sessions_app.runs", "fast", 1_000, 1.0, 4.0),
    ]
    lines = lines_of(rows)
    assert lines[1:3] == ["   75.0%  a.b", "   25.0%  sessions_app.runs"]
    assert lines[4:6] == ["  a.b", "     75.0%         10 calls  slow"]
    assert lines[-1] == "  100.0%  sessions_app.runs fast"
