"""The prompt arguments as rows make them."""

from datetime import UTC, datetime, timedelta

import pytest
from django.contrib.auth.models import User
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.context.arguments import arguments_of, message_of, rounded_time, time_zone
from sessions_app.models import Assistant, Session, SessionSettings
from sessions_app.prompt.arguments import Arguments, MessageArguments
from tests import factories
from tests.factories import NOW

pytestmark = pytest.mark.django_db


@pytest.fixture
def session(alice: User) -> Session:
    return factories.make_session(alice, args={"name": "Jo"})


def found(session: Session) -> Arguments:
    return arguments_of(session, MessageArguments("Hi", "pt"), NOW)


def test_a_session_is_a_conversation_over_the_web(session: Session) -> None:
    conversation = found(session).values["conversation"]
    assert conversation["id"] == str(session.pk)
    assert conversation["identifier"] == str(session.public)
    assert (conversation["source"], conversation["direction"]) == ("web", "inbound")
    assert {"created_date", "updated_date", "duration"} <= conversation.keys()


def test_arguments_message_and_mode_are_there(session: Session) -> None:
    values = found(session).values
    assert (values["name"], values["args"]) == ("Jo", {"name": "Jo"})
    assert values["message"] == {"text": "Hi", "language": "pt"}
    assert values["session"] == {"mode": "text"}
    assert values["assistant"] == {}


def test_an_assistants_description_is_a_template(session: Session) -> None:
    row = session.assistant = Assistant.objects.create(
        name="Guide", description="{{ assistant.name }} for {{ name }}"
    )
    assert found(session).values["assistant"] == {
        "name": "Guide",
        "id": str(row.pk),
        "language": "",
        "description": "Guide for Jo",
    }


def test_a_description_that_fails_stands_as_it_was_written(session: Session) -> None:
    session.assistant = Assistant.objects.create(name="Guide", description="{% broken")
    arguments = found(session)
    assert arguments.values["assistant"]["description"] == "{% broken"
    assert [one.code for one in arguments.remarks] == ["description_fell_back"]


def test_the_message_is_the_runs_trigger_and_its_language_comes_first(session: Session) -> None:
    run = factories.make_run(session, "Olá")
    run.client_language = "en-GB"
    assert message_of(run) == MessageArguments("Olá", "en-GB")
    assert run.trigger is not None
    run.trigger.language = "pt"
    assert message_of(run, "French") == MessageArguments("Olá", "pt")


def test_the_newest_language_that_was_said_comes_before_the_browsers(session: Session) -> None:
    run = factories.make_run(session, "Olá")
    run.client_language = "en-GB"
    assert message_of(run, "Portuguese") == MessageArguments("Olá", "Portuguese")


def test_without_a_run_there_is_no_message() -> None:
    assert message_of(None) == MessageArguments("", "")


NOON = datetime(2026, 11, 21, 12, 34, 56, tzinfo=UTC)


def test_it_is_the_hour_by_default() -> None:
    assert rounded_time(NOON, SessionSettings()).isoformat() == "2026-11-21T12:00:00+00:00"


@pytest.mark.parametrize(("minutes", "shown"), [(1, "12:34"), (5, "12:30"), (60, "12:00"), (1440, "00:00")])
def test_it_is_rounded_down_to_the_persons_choice(minutes: int, shown: str) -> None:
    assert f"{rounded_time(NOON, SessionSettings(clock_minutes=minutes)):%H:%M}" == shown


def test_it_is_in_the_persons_time_zone() -> None:
    assert (
        rounded_time(NOON, SessionSettings(time_zone="Asia/Jakarta")).isoformat()
        == "2026-11-21T19:00:00+07:00"
    )


@pytest.mark.parametrize("name", ["Nowhere/Atlantis", "", "../etc/passwd", "\0", "America"])
def test_an_unknown_time_zone_is_utc(name: str) -> None:
    assert time_zone(name).key == "UTC"


@given(st.integers(0, 4_000_000_000), st.integers(1, 1440))
def test_it_is_never_later_than_now_and_never_older_than_its_step(moment: int, minutes: int) -> None:
    now = datetime.fromtimestamp(moment, UTC)
    shown = rounded_time(now, SessionSettings(clock_minutes=minutes))
    assert timedelta(0) <= now - shown < timedelta(minutes=minutes)
