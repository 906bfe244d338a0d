"""Choosing a model: on home, in a chat, for one answer."""

import pytest
from django.conf import settings as configured
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils.html import strip_tags

from sessions_app.models import Run, Session
from tests import factories

OTHER = "gemini-3.6-flash"


@pytest.fixture
def session(alice: User) -> Session:
    return factories.make_session(alice, settings={"panels": {"tree": True}})


def choose(client: Client, session: Session, **fields: str) -> str:
    return client.post(reverse("session-model", args=[session.public]), fields).content.decode()


def test_the_bar_names_the_model_and_its_level(client: Client, session: Session) -> None:
    session.choose_model(OTHER, "LOW")
    page = client.get(session.get_absolute_url()).content.decode()
    label = strip_tags(page.partition("data-model-label>")[2].partition("<svg")[0])
    assert label.split() == ["Gemini", "3.6", "Flash", "Low"]


def test_a_choice_is_stored_beside_the_other_settings(client: Client, session: Session) -> None:
    said = choose(client, session, model=OTHER, thinking_level="MINIMAL")
    session.refresh_from_db()
    assert (session.model, session.options.thinking_level) == (OTHER, "MINIMAL")
    assert session.options.panels == {"tree": True}
    assert "Gemini 3.6 Flash answers from your next message on." in said


def test_a_level_that_the_model_does_not_take_is_not_stored(client: Client, session: Session) -> None:
    choose(client, session, model="gemini-3.8-flash", thinking_level="MINIMAL")
    session.refresh_from_db()
    assert (session.model, session.options.thinking_level) == ("gemini-3.8-flash", "")


def test_an_unknown_model_is_not_stored(client: Client, session: Session) -> None:
    said = choose(client, session, model="gpt-9")
    session.refresh_from_db()
    assert session.model == factories.MODEL and "next message" not in said


def test_while_an_answer_runs_the_choice_is_for_the_next(client: Client, session: Session) -> None:
    factories.make_run(session)
    assert "The answer in progress stays with the other." in choose(client, session, model=OTHER)


def test_a_chat_begins_with_the_model_chosen_on_home(client: Client, alice: User) -> None:
    client.post(reverse("new-session"), {"quick": "1", "model": OTHER, "thinking_level": "HIGH"})
    made = Session.objects.get(owner=alice)
    assert (made.model, made.options.thinking_level) == (OTHER, "HIGH")


def test_a_chat_begins_with_the_installations_model_where_none_is_chosen(client: Client, alice: User) -> None:
    client.post(reverse("new-session"), {"quick": "1", "model": "gpt-9"})
    assert Session.objects.get(owner=alice).model == configured.PIPEWEB_MODEL


def test_the_list_on_home_marks_what_is_chosen_so_far(client: Client) -> None:
    page = client.get(reverse("models"), {"model": OTHER, "thinking_level": "LOW"}).content.decode()
    assert f'value="{OTHER}" checked' in page and page.count("checked") == 2


def test_the_other_models_leave_out_the_one_that_answered(client: Client, session: Session) -> None:
    run = factories.answered(session, "Hi", "Hello").run
    page = client.get(reverse("other-models", args=[session.public, run.public])).content.decode()
    assert f'data-again="{run.public}" data-model="{OTHER}">' in page
    assert f'data-model="{factories.MODEL}" disabled' in page


def test_an_answer_names_its_model_where_it_is_not_the_chosen_one(client: Client, session: Session) -> None:
    run = factories.answered(session, "Hi", "Hello").run
    address = reverse("run", args=[session.public, run.public])
    assert "badge by" not in client.get(address).content.decode()
    session.choose_model(OTHER, "")
    assert 'class="badge by"' in client.get(address).content.decode()


def test_another_persons_chat_has_no_list_of_models(stranger: Client, session: Session) -> None:
    run = factories.answered(session, "Hi", "Hello").run
    for address in (
        reverse("session-model", args=[session.public]),
        reverse("other-models", args=[session.public, run.public]),
    ):
        assert stranger.get(address).status_code == 404
    assert stranger.post(reverse("session-model", args=[session.public])).status_code == 404
    assert Run.objects.count() == 1
