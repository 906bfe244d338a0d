"""Everything that touches rows, once more, on a real PostgreSQL."""

import os
import subprocess
import sys

import pytest

from tests.conftest import ROOT
from tests.deployment.postgres import Database

FOLDERS = (
    *("accounts", "admin", "models", "test_search.py", "chat/test_transfer.py", "chat/test_branches.py"),
    *("context/test_panels.py", "inspector/test_views.py", "runs/test_engine.py", "runs/test_keeping.py"),
    *("runs/test_recovery.py", "runs/test_rolling.py", "runs/test_cache_processes.py", "runs/test_watch.py"),
)
"""What reads and writes rows in its own way; everything twice would take half of the suite's time."""

LIMIT = 900
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
