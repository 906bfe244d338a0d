"""A process that is really killed (SIGKILL) while a tool runs, and what another one makes of it."""

import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import orjson

from sessions_app.runs.tool_rounds import UNKNOWN
from tests.conftest import ROOT
from tests.server import environment

LIMIT = 60.0
"""Seconds for a start on a busy machine."""


def program(folder: Path, word: str) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "tests.runs.killed_tool", word]
    return subprocess.Popen(command, cwd=ROOT, env=environment(folder), stdout=subprocess.PIPE, text=True)


def kill_inside_the_tool(folder: Path) -> None:
    process, end = program(folder, "begin"), time.monotonic() + LIMIT
    while not (folder / "marks").exists() or not _has_todos(folder):
        assert process.poll() is None and time.monotonic() < end
        time.sleep(0.05)
    process.kill()
    process.communicate()


def _has_todos(folder: Path) -> bool:
    """Both calls of the round that end have been stored."""
    with closing(sqlite3.connect(next(folder.glob("*.sqlite3")))) as database:
        (count,) = database.execute(
            "SELECT count(*) FROM sessions_app_toolcall WHERE ended_at IS NOT NULL"
        ).fetchone()
    return bool(count == 2)


def facts(folder: Path) -> list[dict[str, Any]]:
    said, _ = program(folder, "after").communicate(timeout=LIMIT)
    return [orjson.loads(line) for line in said.splitlines() if line.startswith("{")]


def test_results_survive_a_kill_and_the_killed_call_is_repeated_only_when_a_person_says_so(
    tmp_path: Path,
) -> None:
    kill_inside_the_tool(tmp_path)
    killed, resumed, repeated = facts(tmp_path)
    milk, rye = {"added": "buy milk"}, {"added": "buy rye"}
    both = ["buy milk", "buy rye"]
    assert killed == {
        "status": "interrupted",
        "todos": both,
        "marks": ["here"],
        "responses": [milk, UNKNOWN, rye],
    }
    assert resumed == killed | {"status": "completed"}
    assert repeated["marks"] == ["here", "here"] and repeated["todos"] == both
    assert repeated["responses"] == [milk, {"hung": "here"}, rye]
