"""Tests with the sign-in of a team, in a process that has its applications installed."""

import os
import subprocess
import sys

import pytest

from tests.conftest import ROOT

SWEEPS = (
    "tests/accounts/test_erasure.py",
    "tests/accounts/test_foreign_access.py",
    "tests/accounts/test_person_rows.py",
    "tests/admin/test_sweep.py",
    "tests/chat/test_person_views.py",
    "tests/test_registrations.py",
)
"""Those that find by themselves what there is: addresses, pages of the admin, models of people."""


@pytest.mark.slow
@pytest.mark.parametrize("paths", [("tests/team",), SWEEPS], ids=["own", "sweeps"])
def test_with_the_sign_in_of_a_team(paths: tuple[str, ...]) -> None:
    # SQLite, whatever this process is tested on: two cannot make one test database (`tests/deployment`).
    outer = {name: value for name, value in os.environ.items() if name != "DATABASE_URL"}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *paths],
        cwd=ROOT,
        env={**outer, "PIPEWEB_ACCOUNTS": "team"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4_000:]
    assert " passed" in done.stdout
