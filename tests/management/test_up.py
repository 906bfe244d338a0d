"""What `up` does to its process."""

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.backends.base.base import BaseDatabaseWrapper
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings

from sessions_app.errors import PipewebError
from sessions_app.management.commands import up
from sessions_app.management.commands.up import in_child, log_no_statements


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


def refused() -> None:
    raise PipewebError("refused in the child")


def grown() -> None:
    up.kept = bytearray(1)  # type: ignore[attr-defined]


@pytest.mark.parametrize("port", ["99999", "-1", "http"])
def test_a_port_that_is_none_is_refused(port: str) -> None:
    with pytest.raises(CommandError, match="--port"):
        call_command("up", "--port", port)


def test_what_is_done_in_a_child_leaves_nothing_here_but_its_error() -> None:
    in_child(grown)
    assert not hasattr(up, "kept")
    with pytest.raises(PipewebError, match="refused in the child"):
        in_child(refused)
