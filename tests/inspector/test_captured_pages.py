"""Every page of captured sessions: it is shown, and does not say that Pipeweb wrote the request."""

import re
from collections.abc import Iterator
from html import unescape

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from sessions_app.gemini.error_mapping import RULES
from sessions_app.inspector.tabs import TABS
from sessions_app.models import CaptureAddress, Exchange, Session
from sessions_app.prompt.cache_life import CacheEventKind
from sessions_app.prompt.wire import dumps
from sessions_app.wording import cache_events, outcomes
from tests.capture.answers import Asking, says
from tests.capture.caching_program import made_by
from tests.capture.conversations import body_of, user
from tests.capture.recordings import needs_captures, recorded
from tests.capture.relayed_recordings import capture
from tests.capture.test_recorded_sessions import SESSIONS

pytestmark = pytest.mark.django_db

CLAIMS = re.compile(
    r"\bour (bytes|change|doing)\b|\b(built|dropped) by (us|pipeweb)\b|\bas we asked\b"
    r"|\bPipeweb (prepared|had let go|did not name)\b",
    re.I,
)
"""Sentences that would make it a request of ours."""

ADVICE = {rule.hint for rule in RULES} | {*filter(None, outcomes.HINTS.values())}
"""What a person in a chat is told to do. Nobody reads it where a program asked, and much would be untrue."""

REFUSED = {
    400: "Request contains an invalid thought signature.",
    401: "API key not valid.",
    403: "CachedContent not found (or permission denied)",
    404: "models/x is not found",
    429: "You exceeded your current quota: PerDay",
    503: "The model is overloaded.",
}

DOWNLOADS = ("exchange-request", "exchange-response", "exchange-har", "exchange-bundle")


def addresses(session: Session) -> Iterator[str]:
    for name in ("session", "exchanges", "session-signatures", "regroup"):
        yield reverse(name, args=[session.public])
    for exchange in session.exchanges.all():
        page = exchange.get_absolute_url()
        yield from (f"{page}?tab={tab.id}" for tab in TABS)
        place = [session.public, exchange.number]
        yield from (reverse(name, args=place) for name in DOWNLOADS)
        yield reverse("exchange-program", args=[*place, "curl"])


def claims_on_pages(client: Client) -> dict[str, list[str]]:
    """Address → what is claimed there that is not so; addresses without are left out."""
    wrong = {}
    for session in Session.objects.captured():
        for address in addresses(session):
            response = client.get(address)
            assert response.status_code == 200, address
            body = b"".join(response) if response.streaming else response.content
            text = unescape(body.decode("utf-8", "replace"))
            if found := [one[0] for one in CLAIMS.finditer(text)] + [one for one in ADVICE if one in text]:
                wrong[address] = found
    return wrong


@pytest.mark.parametrize("status", REFUSED)
def test_a_refused_program_is_not_told_what_a_person_may_do(client: Client, alice: User, status: int) -> None:
    program = Asking(CaptureAddress.issue(alice.pk, "Laptop")[0])
    error = {"error": {"code": status, "message": REFUSED[status]}}
    body = body_of([user("How do I scale the loaf to two kilograms?")])
    program.exchange(body, dumps(error), status)
    program.exchange(body, says("Double it."))
    assert Exchange.objects.exclude(resend_of=None).exists() and claims_on_pages(client) == {}


@pytest.mark.parametrize("finish", ["MAX_TOKENS", "SAFETY", "MISSING_THOUGHT_SIGNATURE", "NEVER_HEARD_OF"])
def test_an_answer_that_ends_otherwise_advises_nothing(client: Client, alice: User, finish: str) -> None:
    program = Asking(CaptureAddress.issue(alice.pk, "Laptop")[0])
    program.exchange(body_of([user("Hello")]), says("Double", finish=finish))
    assert Exchange.objects.get().finish_reason == finish and claims_on_pages(client) == {}


def test_a_cache_that_a_program_deletes_was_not_dropped_by_us(client: Client, alice: User) -> None:
    program = made_by(alice, CaptureAddress.Upstream.PROVIDER)
    program.make()
    program.ask_with()
    program.delete()
    program.ask_with(cached=0)
    assert claims_on_pages(client) == {}
    page = client.get(f"{Exchange.objects.earliest('pk').get_absolute_url()}?tab=cache").content.decode()
    assert cache_events.OF_PROGRAMS[CacheEventKind.DELETED] in page


@needs_captures
@pytest.mark.parametrize("folder", [name for name, sizes in SESSIONS.items() if sizes])
def test_every_page_of_each_recorded_client_is_shown_and_claims_nothing(
    client: Client, alice: User, folder: str
) -> None:
    capture(CaptureAddress.issue(alice.pk, "Laptop")[0], recorded(folder))
    assert claims_on_pages(client) == {} and Exchange.objects.exists()
