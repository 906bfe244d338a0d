"""Whatever was said, sent or received is shown as text and never as markup."""

import pytest
from django.test import Client
from django.urls import reverse

from sessions_app.inspector.tabs import TABS
from sessions_app.models import CacheEntry, Exchange, RawChunk, Session
from tests.factories import answer_calls, call_chunk, make_exchange, make_run, text_chunk
from tests.inspector.reading import read

HOSTILE = "<img src=x onerror=alert(1)>'\"{{ 7|add:7 }}</script></pre>"
ODD = 'nul \0 bell \x07 emoji 👩‍👩‍👧 half \\ud83d quote " end'


@pytest.fixture
def hostile(session: Session) -> Exchange:
    """Every value a person, a model or a provider can choose, chosen badly."""
    for column in ("title", "purpose", "background"):
        setattr(session, column, HOSTILE)
    session.save()
    run = make_run(session, HOSTILE)
    bodies = [text_chunk(HOSTILE, thought=True), call_chunk(HOSTILE, {HOSTILE: HOSTILE}, finish=HOSTILE)]
    make_exchange(run, bodies)
    answer_calls(run, {HOSTILE: HOSTILE})
    exchange = make_exchange(run, [*bodies, text_chunk(HOSTILE)], step=2, fingerprint="f" * 64)
    CacheEntry.objects.create(fingerprint="f" * 64, model="m", route="r", reason="provider", said=HOSTILE)
    error = dict.fromkeys(("kind", "message", "hint", "code"), HOSTILE)
    note = dict.fromkeys(("turn", "action", "reason", "code", "words"), HOSTILE)
    names = dict.fromkeys(("served_model", "provider", "response_id"), HOSTILE)
    words = dict.fromkeys(("verdict", "cache_plan", "strategy", "budget"), HOSTILE)
    told = {"usage": {HOSTILE: HOSTILE}, "verdict_figures": {}, "earlier_wording": words}
    codes = {"verdict": HOSTILE[:20], "outcome": HOSTILE[:24]}
    Exchange.objects.filter(pk=exchange.pk).update(error=error, notes=[note], **codes, **told, **names)
    return Exchange.objects.get(pk=exchange.pk)


@pytest.mark.parametrize("view", ["", "raw"])
@pytest.mark.parametrize("tab", [tab.id for tab in TABS])
def test_no_tab_lets_markup_through(client: Client, hostile: Exchange, tab: str, view: str) -> None:
    page = read(client, hostile, tab, view)
    assert "<img" not in page
    assert "&lt;img src=x" in page


def test_the_list_lets_no_markup_through(client: Client, hostile: Exchange) -> None:
    page = client.get(reverse("exchanges", args=[hostile.session.public])).content.decode()
    assert "<img" not in page
    assert "&lt;img src=x" in page


@pytest.mark.parametrize(
    ("what", "index"), [("item", 8), ("layer", 0), ("request", 0), ("chunk", 0), ("reply", 0)]
)
def test_no_fragment_lets_markup_through(client: Client, hostile: Exchange, what: str, index: int) -> None:
    place = reverse("exchange-whole", args=[hostile.session.public, hostile.number, what, index])
    page = client.get(place).content.decode()
    assert "<img" not in page
    assert "&lt;img src=x" in page


def test_downloads_are_never_opened_as_pages(client: Client, hostile: Exchange) -> None:
    for name in ("exchange-request", "exchange-response"):
        response = client.get(reverse(name, args=[hostile.session.public, hostile.number]))
        assert response["Content-Disposition"].startswith("attachment")
        assert response["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize("tab", ["layers", "response", "wire", "stream"])
def test_odd_characters_are_stored_and_shown(client: Client, session: Session, tab: str) -> None:
    exchange = make_exchange(make_run(session, ODD), [text_chunk(ODD, finish="STOP")])
    page = read(client, exchange, tab)
    assert "\0" not in page
    assert "👩‍👩‍👧" in page
    assert "␀" in page or "\\u0000" in page


def test_a_lone_surrogate_in_a_chunk_is_shown(client: Client, session: Session) -> None:
    exchange = make_exchange(make_run(session), [])
    body = rb'{"candidates":[{"content":{"parts":[{"text":"half \ud83d"}]}}]}'
    RawChunk.objects.create(exchange=exchange, seq=0, ms=1, body=body)
    for tab in ("response", "wire", "stream"):
        assert "half \ufffd" in read(client, exchange, tab)
