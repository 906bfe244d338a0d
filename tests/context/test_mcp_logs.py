"""Logs of MCP servers: which is read, and when they go."""

import os
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from pytest_django import Settings

from sessions_app.context.mcp_logs import KEPT, LISTING, LOGS, listing_log, log_path, person_logs
from sessions_app.context.mcp_secrets import FOLDER, keep_secrets
from sessions_app.errors import McpServerFailed
from sessions_app.models import McpServer
from sessions_app.runs.run_poller import erase_left_behind
from tests.mcp.entering import enter

pytestmark = pytest.mark.django_db


@pytest.fixture
def server(settings: Settings, tmp_path: Path) -> McpServer:
    settings.PIPEWEB_DATA = tmp_path
    (tmp_path / LOGS).mkdir()
    return enter(settings)


def write(server: McpServer, person: int, text: str, *, seconds_ago: float = 0) -> Path:
    path = log_path(server, person)
    path.write_text(text)
    written = timezone.now().timestamp() - seconds_ago
    os.utime(path, (written, written))
    return path


def test_a_log_goes_days_after_it_was_written_last(server: McpServer, alice: User) -> None:
    limit = KEPT.total_seconds()
    kept = write(server, LISTING, "young", seconds_ago=limit - 60)
    gone = write(server, alice.pk, "old", seconds_ago=limit + 60)
    erase_left_behind()
    assert kept.exists() and not gone.exists()


def test_the_listing_is_shown_without_secrets(server: McpServer) -> None:
    keep_secrets(server, {"TOKEN": "a-long-secret-value"})
    write(server, LISTING, "began with a-long-secret-value\n")
    shown = listing_log(server)
    assert shown.startswith("began with") and "a-long-secret-value" not in shown


def test_without_the_secrets_that_it_may_hold_no_listing_is_shown(server: McpServer, tmp_path: Path) -> None:
    write(server, LISTING, "began")
    (tmp_path / FOLDER).mkdir()
    (tmp_path / FOLDER / f"{server.public}.json").write_bytes(b"{")
    with pytest.raises(McpServerFailed):
        listing_log(server)


def test_logs_of_people_are_told_by_size_and_empty_ones_not_at_all(
    server: McpServer, alice: User, bob: User
) -> None:
    write(server, LISTING, "of nobody")
    write(server, alice.pk, "words")
    write(server, bob.pk, "")
    (log,) = person_logs(server)
    assert (log.username, log.size) == ("alice", 5) and listing_log(server) == "of nobody"


def test_a_deleted_server_leaves_no_log(server: McpServer, alice: User) -> None:
    log = write(server, alice.pk, "words")
    server.delete()
    assert not log.exists()
