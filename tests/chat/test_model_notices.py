"""The list of models and a session say what ends, and lead on."""

from collections.abc import Iterator
from datetime import date
from html import unescape

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from sessions_app.chat.session_form import SessionForm
from sessions_app.context.model_lookup import clear_caches
from sessions_app.models import ModelLifecycle, Session
from tests.factories import make_session

ENDING = "gemini-2.5-pro"


@pytest.fixture(autouse=True)
def fresh(db: None) -> Iterator[None]:
    clear_caches()
    yield
    clear_caches()


@pytest.fixture
def ending(alice: User) -> Session:
    return make_session(alice, model=ENDING)


def page_of(client: Client, session: Session) -> str:
    return unescape(client.get(session.get_absolute_url()).content.decode())


def test_a_session_says_when_its_model_ends_and_switches_to_the_successor(
    client: Client, ending: Session
) -> None:
    place = reverse("switch-model", args=[ending.public])
    page = page_of(client, ending)
    assert "retires on 1 December 2026" in page and "Switch to gemini-3.8-flash" in page and place in page
    assert client.post(place).status_code == 302
    ending.refresh_from_db()
    assert ending.model == "gemini-3.8-flash"
    assert place not in page_of(client, ending)
    assert client.post(place).status_code == 404


def test_a_retired_model_is_told_with_the_way_on(
    client: Client, ending: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sessions_app.catalogue.today", lambda: date(2026, 12, 2))
    page = page_of(client, ending)
    assert "was retired on 1 December 2026" in page and "Switch to gemini-3.8-flash" in page


def test_a_model_that_stays_says_nothing(client: Client, alice: User) -> None:
    assert "model-notice" not in page_of(client, make_session(alice, model="gemini-3.8-flash"))


def test_an_end_without_a_successor_offers_no_switch(client: Client, ending: Session) -> None:
    row = ModelLifecycle.objects.get(model=ENDING)
    row.successor = row.served_by = ""
    row.save()
    page = page_of(client, ending)
    assert "model-notice" in page and "Switch to" not in page


def test_the_list_of_models_says_what_ends(ending: Session) -> None:
    form = SessionForm(instance=ending)
    labels = dict(form.fields["model"].choices)  # type: ignore[attr-defined]
    assert labels[ENDING] == "Gemini 2.5 Pro (retires 1 December 2026; successor gemini-3.8-flash)"
    assert "price changes 1 January 2027" in labels["gemini-3.6-flash"]
    assert labels["gemini-2.5-flash-lite"] == "Gemini 2.5 Flash-Lite"
    assert "no explicit caches" in labels["gemini-4-argon"]
    (notice,) = form.model_notices
    assert notice.way_on == "gemini-3.8-flash"


def test_another_persons_session_is_not_switched(stranger: Client, ending: Session) -> None:
    assert stranger.post(reverse("switch-model", args=[ending.public])).status_code == 404
    ending.refresh_from_db()
    assert ending.model == ENDING
