"""Pages and fragments: whose they are, what they show, what they cost in queries."""

import uuid

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries, Settings

from sessions_app.chat.views import TitleForm
from sessions_app.models import Session
from tests import factories

NASTY = '<script>alert(1)</script>"><img src=x onerror=alert(1)>'

OWNED = ("session", "session-settings", "rename-session", "details")
POSTED = ("rename-session", "upload", "session-settings")


@pytest.fixture
def session(alice: User) -> Session:
    return factories.make_session(alice)


def address(name: str, session: Session, *more: object) -> str:
    return reverse(name, args=[session.public, *more])


@pytest.mark.parametrize("name", OWNED)
def test_another_persons_session_does_not_exist(stranger: Client, session: Session, name: str) -> None:
    assert stranger.get(address(name, session)).status_code == 404


@pytest.mark.parametrize("name", POSTED)
def test_another_persons_session_cannot_be_changed(stranger: Client, session: Session, name: str) -> None:
    assert stranger.post(address(name, session), {"title": "Mine now"}).status_code == 404
    assert Session.objects.get(pk=session.pk).deleted_at is None


def test_a_run_of_another_session_is_not_found(client: Client, session: Session, alice: User) -> None:
    elsewhere = factories.make_run(factories.make_session(alice))
    assert client.get(address("run", session, elsewhere.public)).status_code == 404


def test_another_persons_run_is_not_found(stranger: Client, session: Session) -> None:
    run = factories.make_run(session)
    assert stranger.get(address("run", session, run.public)).status_code == 404


def test_nobody_is_sent_to_the_sign_in_page(db: None, session: Session) -> None:
    answer = Client().get(address("session", session))
    assert answer.status_code == 302 and answer["Location"].startswith(reverse("sign-in"))


@pytest.mark.parametrize("name", POSTED)
def test_a_post_without_the_token_is_refused(alice: User, session: Session, name: str) -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(alice)
    assert strict.post(address(name, session)).status_code == 403


def test_titles_are_shown_as_text(client: Client, alice: User) -> None:
    session = factories.make_session(alice, title=NASTY[:120])
    for page in (reverse("sessions"), address("session", session)):
        assert "<script>alert" not in client.get(page).content.decode()


def test_what_people_models_and_tools_say_is_shown_as_text(client: Client, session: Session) -> None:
    run = factories.make_run(session, NASTY)
    factories.make_exchange(run, [factories.call_chunk(NASTY, {NASTY: NASTY}, finish="STOP")])
    factories.answer_calls(run, {"error": NASTY})
    factories.make_exchange(run, [factories.text_chunk(NASTY, finish="STOP")], step=2)
    page = client.get(address("run", session, factories.finish(run).public)).content.decode()
    assert "<script" not in page and "<img" not in page
    assert page.count("&lt;script&gt;alert(1)") >= 5


def test_a_page_has_no_inline_script_or_style(client: Client, session: Session) -> None:
    factories.make_history(session, 1)
    for page in (reverse("sessions"), reverse("new-session"), address("session", session)):
        html = client.get(page).content.decode()
        assert "<script>" not in html and " style=" not in html and " onclick=" not in html


def test_the_chat_page_costs_the_same_for_a_long_session(
    client: Client, alice: User, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    short, long = factories.make_session(alice), factories.make_session(alice)
    factories.make_history(short, 1)
    factories.make_history(long, 12)
    client.get(address("session", short))  # the facts of the models are cached per process
    for session in (short, long):
        with django_assert_num_queries(20):
            client.get(address("session", session))


def test_the_list_costs_the_same_for_many_sessions(
    client: Client, alice: User, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for count in (1, 9):
        Session.objects.bulk_create(Session(owner=alice, model="m") for _ in range(count))
        with django_assert_num_queries(8):
            client.get(reverse("sessions"))


def test_a_fragment_costs_the_same_for_a_long_run(
    client: Client, session: Session, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    first, _ = factories.play_flight(session)
    with django_assert_num_queries(9):
        client.get(address("run", session, first.run.public))


def test_search_answers_titles_and_messages(client: Client, alice: User, session: Session) -> None:
    factories.make_session(alice, title="Baking bread")
    factories.answered(session, "Where is my bread?", "In the oven")
    page = client.get(reverse("sessions"), {"q": "bread"}, headers={"HX-Request": "true"}).content.decode()
    assert "Baking <mark>bread</mark>" in page and "Where is my <mark>bread</mark>?" in page
    assert "<html" not in page


def test_a_search_without_a_result_says_so(client: Client, session: Session) -> None:
    page = client.get(reverse("sessions"), {"q": "no such"}, headers={"HX-Request": "true"})
    assert "Nobody has said" in page.content.decode()


@pytest.mark.parametrize("words", ["/", "%_", "“”"])
def test_a_search_without_a_word_is_not_said_to_have_found_nothing(client: Client, words: str) -> None:
    html = client.get(reverse("sessions"), {"q": words}).content.decode()
    assert "There is no word to look for." in html and "Nobody has said" not in html


def test_what_search_finds_is_shown_as_text(client: Client, session: Session) -> None:
    factories.answered(session, f"needle {NASTY}", "ok")
    page = client.get(reverse("sessions"), {"q": "needle script"}).content.decode()
    assert "<script>alert" not in page and "<mark>needle</mark>" in page


def test_home_offers_starters_and_samples(client: Client) -> None:
    page = client.get(reverse("home")).content.decode()
    assert (page.count("data-starter="), page.count("data-sample=")) == (4, 3)


def test_an_empty_list_explains_the_layers(client: Client) -> None:
    page = client.get(reverse("sessions")).content.decode()
    for layer in ("Static", "Dynamic", "Buffered", "Trigger"):
        assert f"<b>{layer}</b>" in page


def test_a_quick_start_makes_a_session_with_the_default_model(client: Client, alice: User) -> None:
    answer = client.post(reverse("new-session"), {"quick": "1", "sample": ""})
    session = Session.objects.get(owner=alice)
    assert answer["Location"] == session.get_absolute_url()
    assert session.model == "gemini-3.8-flash" and session.purpose == ""


def test_a_sample_brings_its_background(client: Client, alice: User) -> None:
    client.post(reverse("new-session"), {"quick": "1", "sample": "cache"})
    assert "starter" in Session.objects.get(owner=alice).background


def test_renaming_keeps_the_title_from_being_overwritten(client: Client, session: Session) -> None:
    client.post(address("rename-session", session), {"title": "  My flights "})
    session.refresh_from_db()
    assert session.title == "My flights" and session.titled_by_hand


def test_an_empty_title_is_asked_for_again(client: Client, session: Session) -> None:
    page = client.post(address("rename-session", session), {"title": " "}).content.decode()
    assert "errorlist" in page and Session.objects.get(pk=session.pk).title == "Flights"


def test_an_unknown_session_is_not_found(client: Client) -> None:
    assert client.get(reverse("session", args=[uuid.uuid4()])).status_code == 404


def test_saved_settings_reload_the_page(client: Client, session: Session) -> None:
    answer = client.post(address("session-settings", session), {"model": session.model, "purpose": "Fly"})
    assert answer["HX-Refresh"] == "true"
    assert Session.objects.get(pk=session.pk).purpose == "Fly"


def test_wrong_settings_come_back_with_words(client: Client, session: Session) -> None:
    answer = client.post(address("session-settings", session), {"model": "no-such-model"})
    assert "errorlist" in answer.content.decode()


def test_the_badge_says_who_answers(client: Client, settings: Settings) -> None:
    assert ">emulator</span>" in client.get(reverse("sessions")).content.decode()
    settings.GEMINI_API_KEY = "a-key"
    page = client.get(reverse("sessions")).content.decode()
    assert ">generativelanguage.googleapis.com</span>" in page and "a-key" not in page


def test_the_badge_names_the_host_that_answers_in_googles_place(client: Client, settings: Settings) -> None:
    settings.GEMINI_API_KEY = "a-key"
    settings.GOOGLE_GEMINI_BASE_URL = "http://somebody:word@127.0.0.1:21030/gemini"
    for name in ("sessions", "key"):
        page = client.get(reverse(name)).content.decode()
        assert ">127.0.0.1:21030</span>" in page and "googleapis.com" not in page and "somebody" not in page
    assert "127.0.0.1:21030 answers" in page


@pytest.mark.parametrize("value", ["nonsense", str(uuid.UUID(int=7)), ""])
def test_earlier_than_an_unknown_turn_is_not_found(client: Client, session: Session, value: str) -> None:
    assert client.get(address("session", session), {"before": value}).status_code == 404


def test_a_title_has_a_length() -> None:
    assert TitleForm({"title": "x" * 120}).is_valid()
    assert not TitleForm({"title": "x" * 121}).is_valid()
