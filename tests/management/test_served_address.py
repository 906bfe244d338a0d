"""Commands print links to the server that `up` started on their data folder."""

from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command
from pytest_django import Settings

from sessions_app.management.served_address import DEFAULT, FILE_NAME, forget, keep, served_at
from tests.server import Server, manage

BASE = "http://127.0.0.1:8120"


@pytest.fixture(autouse=True)
def folder(settings: Settings, tmp_path: Path) -> Path:
    settings.PIPEWEB_DATA = str(tmp_path)
    return tmp_path


def printed(*words: str) -> str:
    said = StringIO()
    call_command(*words, stdout=said)
    return said.getvalue()


@pytest.mark.django_db
@pytest.mark.usefixtures("alice")
@pytest.mark.parametrize("words", [("link", "alice"), ("capture", "--name", "x", "--user", "alice")])
@pytest.mark.parametrize("base", [BASE, "http://[::1]:8120"])
def test_links_lead_to_the_running_server(words: tuple[str, ...], base: str) -> None:
    assert printed(*words).startswith(DEFAULT + "/")
    keep(base)
    assert printed(*words).startswith(base + "/")


def test_a_server_that_ends_forgets_its_own_address_only() -> None:
    keep(BASE)
    forget("http://127.0.0.1:8121")
    assert served_at() == BASE
    forget(BASE)
    assert served_at() == DEFAULT


@pytest.mark.parametrize("content", [b"", b"\xff", b"8120", b"http://a b:8", b"http://host:port"])
def test_what_is_no_address_counts_as_none(folder: Path, content: bytes) -> None:
    (folder / FILE_NAME).write_bytes(content)
    assert served_at() == DEFAULT


def test_a_folder_that_is_not_there_is_no_fault(settings: Settings, tmp_path: Path) -> None:
    settings.PIPEWEB_DATA = str(tmp_path / "absent")
    keep(BASE)
    forget(BASE)
    assert served_at() == DEFAULT


@pytest.mark.slow
def test_a_server_keeps_its_address_while_it_runs(folder: Path) -> None:
    with Server(folder) as server:
        assert manage(folder, "link").stdout.startswith(server.url + "/")
    assert not (folder / FILE_NAME).exists()
