"""What `up` does to its process."""

import gc
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.backends.base.base import BaseDatabaseWrapper
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings

from sessions_app.context.api_key import FILE_NAME
from sessions_app.errors import PipewebError
from sessions_app.key_codes import KeyOrigin
from sessions_app.management.commands import up
from sessions_app.management.commands.up import in_child, log_no_statements
from sessions_app.runs import demo_session
from sessions_app.wording.api_key import WHY_NO_KEY
from tests.conftest import ROOT


@pytest.mark.django_db
def test_no_statement_is_written_out_or_kept(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(BaseDatabaseWrapper, "queries_logged", BaseDatabaseWrapper.queries_logged)
    settings.DEBUG = True
    before = len(connection.queries_log)
    User.objects.count()
    assert len(connection.queries_log) == before + 1
    log_no_statements()
    User.objects.count()
    assert len(connection.queries_log) == before + 1
    with CaptureQueriesContext(connection) as seen:
        User.objects.count()
    assert len(seen) == 1


class ServerThatNotes:
    """In the place of Daphne's: notes whether garbage would be collected while it serves."""

    collects: bool | None = None

    def __init__(self, *given: Any, **options: Any) -> None:
        pass

    def run(self) -> None:
        type(self).collects = gc.isenabled()


@pytest.fixture
def without_collection() -> Iterator[None]:
    gc.disable()
    yield
    gc.enable()


@pytest.mark.django_db
@pytest.mark.usefixtures("without_collection")
def test_garbage_is_collected_while_it_serves(monkeypatch: pytest.MonkeyPatch) -> None:
    asgi = ModuleType("pipeweb.asgi")
    asgi.application = object()  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "pipeweb.asgi", asgi)
    monkeypatch.setattr(demo_session, "ensure_demo_session", lambda *_: None)
    monkeypatch.setattr(BaseDatabaseWrapper, "queries_logged", BaseDatabaseWrapper.queries_logged)
    monkeypatch.setattr(up, "Server", ServerThatNotes)
    with socket.socket() as listener:
        up.Command().serve(listener, User.objects.create(username="owner"), "127.0.0.1")
    assert ServerThatNotes.collects is True


def refused() -> None:
    raise PipewebError("refused in the child")


def grown() -> None:
    up.kept = bytearray(1)  # type: ignore[attr-defined]


@pytest.mark.parametrize("port", ["99999", "-1", "http"])
def test_a_port_that_is_none_is_refused(port: str) -> None:
    with pytest.raises(CommandError, match="--port"):
        call_command("up", "--port", port)


@pytest.mark.parametrize(
    ("host", "allowed", "debug", "words"),
    [
        ("127.0.0.1", ["127.0.0.1"], True, []),
        ("::1", ["[::1]"], True, []),
        ("127.0.0.1", ["chat.example.org"], True, ["ALLOWED_HOSTS): chat.example.org"]),
        ("0.0.0.0", ["127.0.0.1"], True, ["ALLOWED_HOSTS): 127.0.0.1"]),
        ("127.0.0.1", ["127.0.0.1"], False, ["https only"]),
    ],
)
def test_it_says_what_keeps_the_printed_address_from_working(
    settings: Settings, host: str, allowed: list[str], debug: bool, words: list[str]
) -> None:
    settings.ALLOWED_HOSTS, settings.DEBUG = allowed, debug
    shown = f"[{host}]" if ":" in host else host.replace("0.0.0.0", "127.0.0.1")
    lines = list(up.remarks(f"http://{shown}:8000", host))
    assert len(lines) == len(words) and all(word in line for word, line in zip(words, lines, strict=True))


def test_what_is_done_in_a_child_leaves_nothing_here_but_its_error() -> None:
    in_child(grown)
    assert not hasattr(up, "kept")
    with pytest.raises(PipewebError, match="refused in the child"):
        in_child(refused)


def test_it_says_why_the_emulator_answers(settings: Settings, tmp_path: Path) -> None:
    settings.PIPEWEB_DATA = tmp_path
    assert WHY_NO_KEY[KeyOrigin.NONE] in up.provider()
    (tmp_path / FILE_NAME).mkdir()
    assert WHY_NO_KEY[KeyOrigin.UNREADABLE] in up.provider()


UNENDING = """
from functools import partial
import django
django.setup()
from sessions_app.management.commands.up import in_child
in_child(partial(exec, "import time; print('working', flush=True); time.sleep(600)"))
"""


@pytest.mark.parametrize("sign", [signal.SIGKILL, signal.SIGTERM])
def test_what_is_done_in_a_child_ends_with_its_parent(sign: signal.Signals) -> None:
    command = [sys.executable, "-c", UNENDING]
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "tests.settings"}
    with subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, start_new_session=True
    ) as parent:
        assert parent.stdout and parent.stdout.readline() == b"working\n"
        parent.send_signal(sign)
        parent.wait(30)
        try:
            # Whoever is left holds the pipe open.
            assert parent.communicate(timeout=30)[0] == b""
        finally:
            with suppress(ProcessLookupError):
                os.killpg(parent.pid, signal.SIGKILL)
