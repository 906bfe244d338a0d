"""What a reader with a grant reaches, of every address that there is: what is read, nothing that writes."""

from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client

from sessions_app.models import ContentGrant
from tests.accounts.private_rows import PrivateRows
from tests.accounts.test_foreign_access import (
    METHODS,
    addresses,
    is_refusal,
    outcome,
    rows,
    send,
    unchanged,
)

__all__ = ["rows"]

READABLE = {
    *("session", "account", "media", "suggestions", "export-json", "export-markdown"),
    *(
        "exchanges",
        "exchanges-news",
        "exchanges-since",
        "session-savings",
        "session-signatures",
        "refused-run",
    ),
    *("exchange", "exchange-whole", "exchange-change", "exchange-rendition", "exchange-request"),
    *("exchange-response", "exchange-program", "exchange-har", "exchange-bundle"),
}
"""The routes that a grant opens. Each other is refused, or answers with nothing (204)."""


@pytest.fixture
def reader(rows: PrivateRows, bob: User) -> Client:
    """A member of staff who said why; the grant is for alice's one session."""
    bob.is_staff = True
    bob.save()
    bob.user_permissions.add(Permission.objects.get(codename="read_content"))
    person = User.objects.get(pk=bob.pk)
    ContentGrant.objects.open(person, rows.session, "Ticket 12: an answer broke off")
    client = Client(raise_request_exception=False)
    client.force_login(person)
    return client


def test_a_grant_opens_what_is_read_and_nothing_else(reader: Client, rows: PrivateRows) -> None:
    of_session = [one for one in addresses(rows) if one.arguments.get("public") == rows.session.public]
    read = {one.route for one in of_session if answer_of(reader, one.path) == 200}
    assert read == READABLE


def answer_of(client: Client, path: str) -> int:
    answer: Any = client.get(path)
    answer.getvalue()
    return int(answer.status_code)


def test_a_grant_changes_nothing(reader: Client, rows: PrivateRows) -> None:
    with unchanged(rows):
        for address in {one.route: one for one in addresses(rows)}.values():
            for method in METHODS:
                if method not in ("get", "head", "options"):
                    answer = send(reader, method, address.path, rows.form())
                    assert is_refusal(answer), (method, address)


def test_what_it_opens_of_others_is_the_owners_to_read(client: Client, rows: PrivateRows) -> None:
    """The positive control: the owner reaches each of them."""
    listed = {one.route: one.path for one in addresses(rows) if one.route in READABLE}
    assert {route for route, path in listed.items() if outcome(client, "get", path, rows) != 200} == set()
    assert listed.keys() == READABLE
