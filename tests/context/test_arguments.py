"""The prompt arguments as rows make them."""

import pytest
from django.contrib.auth.models import User

from sessions_app.context.arguments import arguments_of, message_of
from sessions_app.models import Assistant, Session
from sessions_app.prompt.arguments import Arguments, Message
from tests import factories
from tests.factories import NOW

pytestmark = pytest.mark.django_db


@pytest.fixture
def session(alice: User) -> Session:
    return factories.make_session(alice, args={"name": "Jo"})


def found(session: Session) -> Arguments:
    return arguments_of(session, Message("Hi", "pt"), NOW)


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
    assert "as it was written" in arguments.reports[0]


def test_the_message_is_the_runs_trigger_and_its_language_comes_first(session: Session) -> None:
    run = factories.make_run(session, "Olá")
    run.client_language = "en-GB"
    assert message_of(run) == Message("Olá", "en-GB")
    assert run.trigger is not None
    run.trigger.language = "pt"
    assert message_of(run) == Message("Olá", "pt")


def test_without_a_run_there_is_no_message() -> None:
    assert message_of(None) == Message("", "")
