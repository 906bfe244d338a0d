"""`manage.py capture` makes an address and prints it."""

import re
from datetime import timedelta
from io import StringIO

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.utils import timezone
from pytest_django import Settings

from sessions_app.models import CaptureAddress
from sessions_app.models.capture_address import LIVING, capture_digest

pytestmark = pytest.mark.django_db


def printed(*words: str) -> str:
    said = StringIO()
    call_command("capture", *words, stdout=said)
    return said.getvalue().strip()


def test_the_address_is_printed_and_nothing_else(alice: User) -> None:
    found = re.fullmatch(
        r"http://127\.0\.0\.1:8100/capture/([\w-]{22})",
        printed("--name", "CLI", "--port", "8100", "--user", "alice"),
    )
    row = CaptureAddress.objects.get()
    assert found and row.token_hash == capture_digest(found[1])
    assert (row.name, row.owner, row.upstream) == ("CLI", alice, "provider")
    assert not row.uses_server_key


def test_the_servers_key_is_used_only_when_that_is_said(alice: User) -> None:
    printed("--name", "x", "--user", "alice", "--server-key")
    assert CaptureAddress.objects.get().uses_server_key
    with pytest.raises(CommandError):
        printed("--name", "y", "--user", "alice", "--server-key", "--emulator")


def test_it_can_lead_to_the_emulator_and_last_for_other_times(alice: User) -> None:
    printed("--name", "x", "--user", "alice", "--emulator", "--days", "2")
    printed("--name", "y", "--user", "alice", "--days", "0")
    forever, short = CaptureAddress.objects.all()
    assert short.upstream == "emulator" and forever.expires_at is None
    assert short.expires_at and abs(short.expires_at - timezone.now() - timedelta(days=2)) < timedelta(
        minutes=1
    )


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--days", "-5"),
        ("--days", "9999999"),
        ("--port", "99999"),
        ("--name", " "),
        ("--name", "two\nlines"),
        ("--name", "x" * 81),
    ],
)
def test_what_no_address_can_have_is_refused(alice: User, option: str, value: str) -> None:
    with pytest.raises(CommandError, match=option):
        printed("--name", "x", "--user", "alice", option, value)
    assert not CaptureAddress.objects.exists()


def test_without_a_key_of_the_server_the_address_comes_with_a_warning(
    alice: User, settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    settings.GEMINI_API_KEY = ""
    assert printed("--name", "x", "--user", "alice", "--server-key").startswith("http://")
    assert "finds no key" in capsys.readouterr().err
    settings.GEMINI_API_KEY = "one"
    printed("--name", "y", "--user", "alice", "--server-key")
    assert not capsys.readouterr().err


def test_a_person_has_no_more_than_so_many(alice: User) -> None:
    for number in range(LIVING):
        CaptureAddress.issue(alice.pk, str(number))
    with pytest.raises(CommandError, match=str(LIVING)):
        printed("--name", "x", "--user", "alice")


def test_nobody_gets_none() -> None:
    with pytest.raises(CommandError):
        printed("--name", "x", "--user", "nobody")
