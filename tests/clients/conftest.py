"""One emulator for the clients of a process. Without their environments they are skipped; in CI they fail."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clients.captured import RelayedServer
from tests.clients.environments import COMMAND, missing
from tests.clients.running import (
    ADK_CLIENT,
    GENAI_CLIENTS,
    OPENAI_CLIENTS,
    Findings,
    quiet_environment,
    run_programs,
)
from tests.clients.tap import Tap
from tests.conftest import IN_CI, ROOT
from tests.server import Server

WITHOUT_ENVIRONMENT = ("test_curl.py", "test_environments.py")
"""Need no client but what every machine has."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    mine = [
        item
        for item in items
        if item.nodeid.startswith("tests/clients/") and item.path.name not in WITHOUT_ENVIRONMENT
    ]
    if not mine or not (absent := missing()):
        return
    reason = f"no environment for {', '.join(absent)}: {COMMAND}"
    if IN_CI:
        raise pytest.UsageError(f"CI needs the real clients; {reason}")
    for item in mine:
        item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(scope="session")
def base() -> Iterator[str]:
    """The URL of an emulator that stands alone, as people start it."""
    command = (sys.executable, "manage.py", "emulator", "--port", "0", "--delay", "0")
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        yield process.stdout.readline().split()[3].rstrip(";")
        process.terminate()


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The home of the clients."""
    return tmp_path_factory.mktemp("clients")


@pytest.fixture(scope="session")
def quiet(folder: Path) -> dict[str, str]:
    """The environment of a client that talks to this machine only."""
    return quiet_environment(folder)


@pytest.fixture(scope="session", params=GENAI_CLIENTS, ids=str)
def genai(request: pytest.FixtureRequest, base: str, folder: Path) -> Findings:
    return run_programs(request.param, base, folder)


@pytest.fixture(scope="session", params=OPENAI_CLIENTS, ids=str)
def openai(request: pytest.FixtureRequest, base: str, folder: Path) -> Findings:
    return run_programs(request.param, base, folder)


@pytest.fixture(scope="session")
def adk(base: str, folder: Path) -> Findings:
    return run_programs(ADK_CLIENT, base, folder)


@pytest.fixture(scope="session")
def relayed(base: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RelayedServer]:
    """A server whose provider is the emulator that stands alone."""
    data = tmp_path_factory.mktemp("relayed")
    with (
        Tap(base) as behind,
        Server(data, GOOGLE_GEMINI_BASE_URL=behind.url) as server,
        Tap(server.url) as front,
    ):
        yield RelayedServer(server, front, behind)
