"""Every page of captured sessions: it is shown, and does not say that Pipeweb wrote the request."""

import re
from collections.abc import Iterator

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from sessions_app.inspector.tabs import TABS
from sessions_app.models import CaptureAddress, Exchange, Session
from tests.capture.recordings import needs_captures, recorded
from tests.capture.relayed_recordings import capture
from tests.capture.test_recorded_sessions import SESSIONS

pytestmark = [needs_captures, pytest.mark.django_db]

CLAIMS = re.compile(r"\bour (bytes|change|doing)\b|\bPipeweb (prepared|had let go|did not name)\b", re.I)
"""Sentences that would make it a request of ours."""

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


@pytest.mark.parametrize("folder", [name for name, sizes in SESSIONS.items() if sizes])
def test_every_page_of_each_recorded_client_is_shown_and_claims_nothing(
    client: Client, alice: User, folder: str
) -> None:
    capture(CaptureAddress.issue(alice.pk, "Laptop")[0], recorded(folder))
    wrong = []
    for session in Session.objects.captured():
        for address in addresses(session):
            response = client.get(address)
            body = b"".join(response) if response.streaming else response.content
            claims = CLAIMS.findall(body.decode("utf-8", "replace"))
            if response.status_code != 200 or claims:
                wrong.append((address, response.status_code, claims[:2]))
    assert not wrong and Exchange.objects.exists()
