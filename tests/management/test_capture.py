"""`manage.py capture` makes an address and prints it."""

import re
from datetime import timedelta
from io import StringIO

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.utils import timezone

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


def test_a_person_has_no_more_than_so_many(alice: User) -> None:
    for number in range(LIVING):
        CaptureAddress.issue(alice.pk, str(number))
    with pytest.raises(CommandError, match=str(LIVING)):
        printed("--name", "x", "--user", "alice")


def test_nobody_gets_none() -> None:
    with pytest.raises(CommandError):
        printed("--name", "x", "--user", "nobody")
