"""Everything that touches rows, once more, on a real PostgreSQL."""

import os
import subprocess
import sys

import pytest

from tests.conftest import ROOT
from tests.deployment.postgres import Database

FOLDERS = ("accounts", "admin", "chat", "context", "health", "inspector", "models", "runs")
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
