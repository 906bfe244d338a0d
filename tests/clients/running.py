"""Runs the programs of a client against an emulator, each in the environment of its client."""

import os
import shutil
import signal
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from tests.clients.environments import ADK, GENAI, GENAI_1, JAVASCRIPT, OPENAI, ClientEnvironment
from tests.conftest import ROOT

PROGRAMS = Path(__file__).parent / "programs"
LIMIT = 240
"""Seconds a program may take on a busy machine."""


@dataclass(frozen=True)
class RealClient:
    """A client as its users have it, and the programs that use it; the name is for the reports of tests."""

    name: str
    environment: ClientEnvironment
    programs: tuple[str, ...]

    def __str__(self) -> str:
        return self.name


GENAI_CLIENTS = (
    RealClient("google-genai", GENAI, ("google_genai_main", "google_genai_tools")),
    RealClient("google-genai 1", GENAI_1, ("google_genai_main", "google_genai_tools")),
    RealClient("@google/genai", JAVASCRIPT, ("google_genai.mjs",)),
)
OPENAI_CLIENTS = (
    RealClient("openai", OPENAI, ("openai_main",)),
    RealClient("openai for Node", JAVASCRIPT, ("openai.mjs",)),
)
ADK_CLIENT = RealClient("google-adk", ADK, ("google_adk_main",))
TALKING_CLIENTS = (
    RealClient("google-genai", GENAI, ("talks_genai",)),
    RealClient("google-genai 1", GENAI_1, ("talks_genai",)),
    RealClient("@google/genai", JAVASCRIPT, ("talks_genai.mjs",)),
    RealClient("google-adk", ADK, ("talks_adk",)),
)
"""Their programs take the names of steps, each of which is a conversation of three questions."""


class Findings:
    """What the steps of a client's programs found, by the name of the step."""

    def __init__(self, client: RealClient, steps: dict[str, dict[str, Any]]) -> None:
        self.client = client
        self._steps = steps

    def __getitem__(self, step: str) -> Any:
        found = self._steps[step]
        assert "failure" not in found, f"{self.client}, {step}:\n{found['failure']}"
        return found["result"]


def run_programs(client: RealClient, base: str, folder: Path, *arguments: str) -> Findings:
    """All programs of a client, once; none of them may have tried another machine than this."""
    steps: dict[str, dict[str, Any]] = {}
    for program in client.programs:
        done = run_program(client.environment, program, base, folder, *arguments)
        assert not done.returncode, f"{client}, {program}:\n{done.stderr}"
        told = orjson.loads(done.stdout)
        assert told["outside"] == [], f"{client} wanted to reach {told['outside']}"
        steps |= told["steps"]
    return Findings(client, steps)


def run_program(
    environment: ClientEnvironment, program: str, base: str, folder: Path, *arguments: str
) -> subprocess.CompletedProcess[str]:
    """A module in Python, or a file for Node, which looks for packages beside it: so it runs from a copy."""
    if not program.endswith(".mjs"):
        module = f"tests.clients.programs.{program}"
        return run([environment.python, "-m", module, base, *arguments], ROOT, folder)
    copies = folder / "programs"
    shutil.copytree(PROGRAMS, copies, dirs_exist_ok=True)
    if not (copies / "node_modules").exists():
        (copies / "node_modules").symlink_to(environment.folder / "node_modules")
    return run([environment.node, copies / program, base, *arguments], folder, folder, **node_guard(folder))


def run(
    command: Sequence[str | Path], cwd: Path, home: Path, **variables: str
) -> subprocess.CompletedProcess[str]:
    """One command with nothing of the developer's shell but the path to programs. Leaves nothing running."""
    words = [str(word) for word in command]
    process = subprocess.Popen(
        words,
        cwd=cwd,
        env={**quiet_environment(home), **variables},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    with process:
        try:
            output, complaints = process.communicate(timeout=LIMIT)
        except subprocess.TimeoutExpired:
            # Also what it has started, which holds the pipes open.
            os.killpg(process.pid, signal.SIGKILL)
            raise
    return subprocess.CompletedProcess(words, process.returncode, output, complaints)


def quiet_environment(home: Path) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "HOME": str(home), "TMPDIR": str(home)}


def node_guard(folder: Path) -> dict[str, str]:
    """Keeps Node, and what it starts, from other machines; their names are in the file `outside`."""
    outside = folder / "outside"
    outside.touch()
    return {"OUTSIDE": str(outside), "NODE_OPTIONS": f"--import={(PROGRAMS / 'loopback.mjs').as_uri()}"}
