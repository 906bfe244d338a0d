"""Tests, run once more in a process of their own on a real PostgreSQL."""

import os
import subprocess
import sys
from collections.abc import Iterable

from tests.conftest import ROOT
from tests.deployment.postgres import Database

LIMIT = 2_700
"""Seconds, on a busy machine."""

OUTPUT = 4_000
"""Characters of what pytest printed."""


def failures(paths: Iterable[str], left_out: Iterable[str] = (), **variables: str) -> str:
    """The end of what pytest printed, empty where all passed.

    `left_out` are beginnings of node ids, `variables` of the environment.
    """
    database = Database(fast=True)
    database.create()
    given = [*(f"tests/{path}" for path in paths), *(f"--deselect=tests/{one}" for one in left_out)]
    try:
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *given],
            cwd=ROOT,
            env={**os.environ, "DATABASE_URL": database.url, **variables},
            capture_output=True,
            text=True,
            check=False,
            timeout=LIMIT,
        )
    finally:
        database.drop()
    return done.stdout[-OUTPUT:] if done.returncode else ""
