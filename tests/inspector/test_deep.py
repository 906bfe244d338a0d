"""Exchanges and turns nested deeper than JSON can be written again, as earlier versions stored them."""

import uuid

import pytest
from django.test import Client
from django.urls import reverse

from sessions_app.inspector.tabs import TABS
from sessions_app.models import Exchange, RawChunk, Session, Turn
from sessions_app.prompt.turns import Turn as TurnValue
from sessions_app.prompt.turns import TurnKind
from tests.factories import make_exchange, make_run

DEPTHS = [101, 260, 900, 20_000]


def nested(depth: int) -> bytes:
    return b'{"functionCall":{"name":"f","args":%b}}' % (b'{"a":' * depth + b"1" + b"}" * depth)


def received(session: Session, depth: int) -> Exchange:
    """An exchange whose chunk is nested so deeply."""
    exchange = make_exchange(make_run(session), [])
    body = b'{"candidates":[{"content":{"role":"model","parts":[%b]}}]}' % nested(depth)
    RawChunk.objects.create(exchange=exchange, seq=0, ms=1.0, body=body)
    return exchange


@pytest.mark.parametrize("view", ["", "raw"])
@pytest.mark.parametrize("tab", TABS, ids=lambda tab: str(tab.id))
@pytest.mark.parametrize("depth", DEPTHS)
def test_every_tab_opens(client: Client, session: Session, depth: int, tab: object, view: str) -> None:
    exchange = received(session, depth)
    page = client.get(exchange.get_absolute_url(), {"tab": tab.id, "view": view})  # type: ignore[attr-defined]
    assert page.status_code == 200


@pytest.mark.parametrize("depth", DEPTHS)
def test_the_response_tab_says_why_it_shows_nothing(client: Client, session: Session, depth: int) -> None:
    page = client.get(received(session, depth).get_absolute_url(), {"tab": "response"})
    assert "nested too deeply" in page.content.decode()


@pytest.mark.parametrize("depth", DEPTHS)
def test_every_download_works(client: Client, session: Session, depth: int) -> None:
    exchange = received(session, depth)
    place = [session.public, exchange.number]
    for name in ("request", "response", "har", "bundle"):
        assert client.get(reverse(f"exchange-{name}", args=place)).status_code == 200
    for program in ("curl", "python", "sdk", "javascript"):
        assert client.get(reverse("exchange-program", args=[*place, program])).status_code == 200


@pytest.mark.parametrize("depth", [101, 260, 900])
def test_a_turn_of_an_earlier_import_is_shown(client: Client, session: Session, depth: int) -> None:
    run = make_run(session)
    wire = b'{"role":"model","parts":[%b]}' % nested(depth)
    value = TurnValue(str(uuid.uuid4()), TurnKind.FUNCTION_CALLING, wire)
    Turn.append(session, value, parent=session.head, run=run)
    run.end("stopped")
    assert client.get(session.get_absolute_url()).status_code == 200
