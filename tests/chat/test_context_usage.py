"""The gauge: how much of the model's window the conversation takes."""

import re

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from sessions_app.chat.context_usage import ContextUsage
from sessions_app.models import Exchange, ModelFacts, Turn
from sessions_app.prompt.provider_tools import ProviderTool
from sessions_app.wording.sessions import WINDOW_WARNINGS
from tests.factories import MODEL, answered, make_session


def test_it_counts_the_last_request_and_its_answer(alice: User) -> None:
    session = make_session(alice)
    assert ContextUsage.of(session) is None
    answered(session, "Hello", "Hi")
    gauge = ContextUsage.of(session)
    assert gauge and (gauge.used, gauge.limit, gauge.level) == (1204 + 96, 1_048_576, "calm")


def test_an_empty_session_shows_nothing_of_another(alice: User, bob: User) -> None:
    theirs = answered(make_session(bob), "Hello", "Hi")
    Turn.objects.filter(run=theirs.run).update(run=None)
    assert ContextUsage.of(make_session(alice)) is None


@pytest.mark.parametrize(
    ("used", "level"),
    [(69, "calm"), (70, "nearly"), (90, "almost")],
)
def test_it_warns_before_the_window_is_full(used: int, level: str) -> None:
    usage = ContextUsage(used, 100)
    assert (usage.level, usage.warning) == (level, WINDOW_WARNINGS[level])


def test_more_than_the_window_is_full_and_an_unknown_window_is_empty() -> None:
    assert (ContextUsage(300, 100).percent, ContextUsage(300, 0).percent) == (100.0, 0.0)


def test_an_admins_limit_holds(alice: User) -> None:
    session = make_session(alice)
    answered(session, "Hello", "Hi")
    ModelFacts.objects.create(model=MODEL, input_limit=2_000)
    gauge = ContextUsage.of(session)
    assert gauge and (gauge.percent, gauge.level) == (65.0, "calm")


def test_the_fragment_belongs_to_its_owner(client: Client, stranger: Client, alice: User) -> None:
    session = make_session(alice)
    answered(session, "Hello", "Hi")
    Exchange.objects.update(prompt_tokens=1_000_000)
    url = reverse("gauge", args=[session.public])
    assert WINDOW_WARNINGS["almost"] in client.get(url).content.decode()
    assert stranger.get(url).status_code == 404


def test_the_news_have_what_another_page_chose(client: Client, alice: User) -> None:
    session = make_session(alice)
    session.choose_model("gemini-2.5-flash", "")
    session.switch("provider_tools", ProviderTool.CODE.value, True)
    news = client.get(reverse("gauge", args=[session.public])).content.decode()
    shown = dict(
        re.findall(r'id="([\w-]+)" ?[^>]*hx-swap-oob="true">(.*?)(?=<\w+[^>]*hx-swap-oob|$)', news, re.DOTALL)
    )
    assert "2.5 Flash" in shown["model-shown"]
    assert reverse("switch-model", args=[session.public]) in shown["model-news"]
    assert shown["own-tools"].count(" checked") == shown["own-on"].count("data-switches-off") == 1
