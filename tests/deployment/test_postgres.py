"""Everything that touches rows, once more, on a real PostgreSQL."""

import os
import subprocess
import sys

import pytest

from tests.conftest import ROOT
from tests.deployment.postgres import Database

FOLDERS = (
    *(
        "accounts",
        "admin",
        "models",
        "test_search.py",
        "chat/test_transfer.py",
        "chat/test_imports.py",
        "chat/test_hostile_values.py",
        "test_values.py",
        "chat/test_history_branches.py",
    ),
    *("context/test_personal_limits.py", "context/test_storage.py", "chat/test_sockets.py"),
    *("panels", "inspector/test_views.py", "runs/test_engine.py", "runs/test_cache_lifecycle.py"),
    *(
        "runs/test_processes.py",
        "runs/test_cache_rollover.py",
        "runs/test_cache_processes.py",
        "runs/test_run_poller.py",
        "runs/test_tool_rounds.py",
        "runs/test_personal_limits.py",
        "runs/test_fault_histories.py",
        "runs/test_poisoned_rows.py",
        "runs/test_odd_strings.py",
    ),
    "matrix",
)
"""What reads and writes rows in its own way; everything twice would take half of the suite's time."""

LEFT_OUT = (
    "runs/test_fault_histories.py::test_more_of_history",
    "matrix/test_matrix.py::test_more_cells",
    "matrix/test_matrix.py::test_long_session",
    "matrix/test_generated.py::test_more_sessions",
)
"""The slow histories, cells and generated sessions run on SQLite only."""

LIMIT = 2_700
"""Seconds, on a busy machine."""


@pytest.mark.timeout(LIMIT + 60)
def test_every_test_of_rows_passes_on_postgresql() -> None:
    database = Database()
    database.create()
    try:
        done = subprocess.run(
            [
                sys.executable,
                "-m",
                "pytest",
                "-q",
                "-p",
                "no:cacheprovider",
                *(f"tests/{name}" for name in FOLDERS),
                *(f"--deselect=tests/{name}" for name in LEFT_OUT),
            ],
            cwd=ROOT,
            env={**os.environ, "DATABASE_URL": database.url},
            capture_output=True,
            text=True,
            check=False,
            timeout=LIMIT,
        )
    finally:
        database.drop()
    assert done.returncode == 0, done.stdout[-4000:]
