"""What every test stands on: no network but this machine's, a data folder of its own, two people."""

import gc
import ipaddress
import os
import signal
import socket
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings
from pytest_django import DjangoDbBlocker

from sessions_app.context.allowances import clear_rules
from sessions_app.context.mcp_servers import clear_servers
from sessions_app.context.model_lookup import clear_caches
from sessions_app.context.personal_limits import clear_limits
from sessions_app.rendering.renderer import renderer
from sessions_app.runs.background import repeats
from tests.chromium import CHROMIUM
from tests.clients import environments as clients
from tests.flushing import flushes
from tests.task_threads import close_task_connections

ROOT = Path(__file__).resolve().parent.parent
LONGEST = ("tests/deployment/test_postgres", "tests/matrix/")
"""Begun first, so that no process is left alone with one of them at the end."""

SUMMARY = pytest.StashKey[str]()
"""The table of `tests/conform/recordings`, printed at the end of the run."""

# A busy machine is slow, and no test is about time.
hypothesis_settings.register_profile("pipeweb", deadline=None, suppress_health_check=[HealthCheck.too_slow])
hypothesis_settings.load_profile("pipeweb")

IN_CI = os.environ.get("CI", "").lower() in {"1", "true"}


class OutsideNetwork(RuntimeError):
    """A test tried to reach another machine."""


def is_inside(address: Any) -> bool:
    """True for loopback addresses and for what is no internet address at all (unix sockets, netlink)."""
    if not isinstance(address, tuple):
        return True
    host = address[0]
    try:
        return host in {"", "localhost"} or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


@pytest.fixture(autouse=True, scope="session")
def no_outside_network() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for name in ("connect", "connect_ex"):
            patch.setattr(socket.socket, name, guarded(getattr(socket.socket, name)))
        yield


@pytest.fixture(autouse=True, scope="session")
def heeded_interrupts() -> None:
    """What a shell starts in the background ignores Ctrl-C, and so would the servers that tests end by it."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def guarded(connect: Any) -> Any:
    def checked(self: socket.socket, address: Any) -> Any:
        if not is_inside(address):
            raise OutsideNetwork(f"a test may not connect to {address!r}")
        return connect(self, address)

    return checked


def pytest_report_header() -> str:
    return f"chromium: {CHROMIUM or 'ABSENT'}"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: [not item.nodeid.startswith(name) for name in LONGEST])
    browser = [item for item in items if "tests/browser/" in item.nodeid]
    for item in browser:
        item.add_marker(pytest.mark.browser)
    if CHROMIUM or not browser:
        return
    if IN_CI:
        raise pytest.UsageError("CI needs Chromium: apt-get install chromium")
    for item in browser:
        item.add_marker(pytest.mark.skip(reason="no Chromium found"))


@pytest.hookimpl(tryfirst=True)
def pytest_collection() -> None:
    """The tests are found without looking for garbage: there is none."""
    gc.disable()


def pytest_collection_finish() -> None:
    """They stay until the end and are not looked at again: of what tests take, this is a tenth."""
    gc.enable()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """What one of several processes found out is handed to the one that prints."""
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output["conformance"] = session.config.stash.get(SUMMARY, "")


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:
    if table := getattr(node, "workeroutput", {}).get("conformance"):
        node.config.stash[SUMMARY] = table


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if table := config.stash.get(SUMMARY, ""):
        terminalreporter.section("the emulator beside the recordings")
        terminalreporter.write_line(table)
    if absent := clients.missing():
        names = ", ".join(absent)
        terminalreporter.write_line(f"NOTICE: clients skipped, no environment for {names}: {clients.COMMAND}")
    if not CHROMIUM:
        terminalreporter.write_line("NOTICE: no Chromium found; browser tests skipped")


@pytest.fixture(autouse=True)
def one_day_of_models(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the catalogue says of a later day changes no test."""
    monkeypatch.setattr("sessions_app.catalogue.today", lambda: date(2026, 11, 22))


@pytest.fixture(scope="session")
def recordings() -> Path:
    """Folder with recorded Gemini traffic; it is not part of the repository."""
    folder = Path(os.environ.get("PIPEWEB_RECORDINGS") or ROOT.parent / "shared" / "recordings")
    if not folder.is_dir():
        pytest.skip("NOTICE: no recordings; set PIPEWEB_RECORDINGS to their folder")
    return folder


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """Django asks SQLite once per connection whether it knows JSON; no test counts that query."""
    with django_db_blocker.unblock():
        assert connection.features.supports_json_field
    with flushes():
        yield
    close_task_connections()


@pytest.fixture(autouse=True, scope="session")
def patient_renderer() -> None:
    """A busy machine renders all the same; the limits have renderers of their own in their tests."""
    renderer().seconds = 20.0


@pytest.fixture(autouse=True)
def work_in_the_transaction_of_a_test(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a test does not commit is seen in its own thread only."""
    marker = request.node.get_closest_marker("django_db")
    commits = marker is not None and marker.kwargs.get("transaction")
    if not commits and "transactional_db" not in request.fixturenames:
        monkeypatch.setattr("sessions_app.database.SIDE_BY_SIDE", None)


@pytest.fixture(autouse=True)
def fresh_prices() -> None:
    """What a process remembers of prices, limits and servers is of rows that the test before took away."""
    clear_caches()
    clear_limits()
    clear_rules()
    clear_servers()


@pytest.fixture(autouse=True)
def fresh_reports() -> None:
    """What a process logged already is of the test before."""
    repeats.clear()


@pytest.fixture
def alice(db: None) -> User:
    return User.objects.create_user("alice", password="wonderland")


@pytest.fixture
def bob(db: None) -> User:
    return User.objects.create_user("bob", password="builder")


@pytest.fixture
def client(alice: User, client: Client) -> Client:
    """A browser in which alice is signed in."""
    client.force_login(alice)
    return client


@pytest.fixture
def stranger(bob: User) -> Client:
    """A browser in which bob is signed in."""
    client = Client()
    client.force_login(bob)
    return client
