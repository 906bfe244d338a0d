"""The guards that keep the programs of the clients on this machine."""

import sys
from pathlib import Path

import orjson
import pytest

from tests.clients.environments import JAVASCRIPT
from tests.clients.running import node_guard, run
from tests.conftest import ROOT

pytestmark = pytest.mark.slow

PYTHON = """
import asyncio, socket
from tests.clients.programs.steps import report

def by_name():
    socket.getaddrinfo("example.invalid", 80)

def by_address():
    socket.create_connection(("192.0.2.1", 80))

asyncio.run(report(by_name, by_address))
"""
NODE = """
import net from "node:net";

const ended = (socket) => new Promise((resolve) => socket.on("error", (error) => resolve(error.message)));
const fetched = await fetch("http://example.invalid/").catch((error) => error.cause.message);
console.log(JSON.stringify([fetched, await ended(net.connect(80, "192.0.2.1"))]));
"""


def test_a_python_program_cannot_look_up_or_reach_another_machine(tmp_path: Path) -> None:
    done = run([sys.executable, "-c", PYTHON], ROOT, tmp_path)
    told = orjson.loads(done.stdout)
    assert told["outside"] == ["example.invalid", "192.0.2.1"]
    assert all("a test may not reach" in step["failure"] for step in told["steps"].values())


def test_a_program_of_node_cannot_reach_another_machine(tmp_path: Path) -> None:
    (tmp_path / "program.mjs").write_text(NODE)
    done = run([JAVASCRIPT.node, "program.mjs"], tmp_path, tmp_path, **node_guard(tmp_path))
    told = orjson.loads(done.stdout)
    assert told == ["a test may not reach example.invalid", "a test may not reach 192.0.2.1"]
    assert (tmp_path / "outside").read_text().split() == ["example.invalid", "192.0.2.1"]
