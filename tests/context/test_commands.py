"""Messages that begin with a command of the library."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from pytest_django import DjangoAssertNumQueries

from sessions_app.context.commands import expand
from sessions_app.models import PromptText, Session
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def session(alice: User) -> Session:
    return factories.make_session(alice, args={"team": "Blue"})


def command(name: str, body: str, **fields: Any) -> None:
    PromptText.objects.create(kind="command", name=name, body=body, **fields)


def expanded(session: Session, text: str) -> str:
    return expand(session, text, factories.NOW)


def test_a_command_becomes_its_text(session: Session) -> None:
    command("Weekly review", "Review the week of {{ team }}.")
    assert expanded(session, "/weekly-review") == "Review the week of Blue."


def test_what_follows_the_name_stands_below(session: Session) -> None:
    command("Shorten", "Shorten this.")
    assert expanded(session, "/shorten a\nb") == "Shorten this.\n\na\nb"


def test_a_template_that_uses_the_rest_gets_it_once(session: Session) -> None:
    command(
        "Shorten",
        "Shorten “{{ message.text }}” to {{ words }} words.",
        variables=[{"name": "words", "default": 9}],
    )
    assert expanded(session, "/shorten this text") == "Shorten “this text” to 9 words."


@pytest.mark.parametrize("text", ["/unknown", "/", "/ shorten", "/etc/passwd is a file", "//shorten", "/!!!"])
def test_what_is_no_command_stays_as_it_was_typed(session: Session, text: str) -> None:
    command("Shorten", "Shorten this.")
    assert expanded(session, text) == text


def test_a_role_is_no_command(session: Session) -> None:
    PromptText.objects.create(kind="role", name="Pilot", body="You fly.")
    assert expanded(session, "/pilot") == "/pilot"


def test_an_ordinary_message_costs_no_query(
    session: Session, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_num_queries(0):
        assert expanded(session, "Is it 1/2?") == "Is it 1/2?"
