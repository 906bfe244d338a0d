import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from sessions_app.emulator import Emulator
from tests.conformance.comparison import Verdict, compare_folder, render_table
from tests.conftest import SUMMARY

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def verdicts(recordings: Path, pytestconfig: pytest.Config) -> list[Verdict]:
    """Every recording against every rule; the table is printed at the end of the run."""
    found = compare_folder(recordings)
    pytestconfig.stash[SUMMARY] = render_table(found)
    return found


@pytest.fixture(scope="session")
def base() -> Iterator[str]:
    """The URL of an emulator that stands alone, as people start it."""
    command = (sys.executable, "manage.py", "emulator", "--port", "0", "--delay", "0")
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        yield process.stdout.readline().split()[3].rstrip(";")
        process.terminate()


@pytest.fixture(scope="session")
def node_modules(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the JavaScript clients, installed once a run by npm."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if not node or not npm:
        pytest.skip("NOTICE: no Node; the JavaScript clients are not tried")
    folder = tmp_path_factory.mktemp("node")
    (folder / "package.json").write_text("{}")
    wanted = ("@google/genai@^3", "openai@^7")
    command = (npm, "install", "--no-audit", "--no-fund", "--ignore-scripts", "--fetch-retries=1", *wanted)
    try:
        subprocess.run(command, capture_output=True, timeout=60, check=True, cwd=folder)
    except subprocess.SubprocessError as failure:
        pytest.skip(f"NOTICE: npm cannot install the JavaScript clients: {failure}")
    return folder


@pytest.fixture(scope="session")
def quiet() -> dict[str, str]:
    """The environment of a client that talks to this machine only."""
    return {**os.environ, "NO_PROXY": "*", "no_proxy": "*"}


@pytest.fixture
def emulator() -> Emulator:
    return Emulator(delay=0)
