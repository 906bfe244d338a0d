import hashlib

import orjson
import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from sessions_app.inspector.tabs.wire_tab import CHUNKS, WireTab
from sessions_app.models import CaptureAddress, Dialect, Exchange, Session, Source
from sessions_app.prompt.dialects.openai import openai_request
from tests.capture.conversations import user
from tests.capture.program import Program
from tests.factories import answered, make_exchange, make_run, play_flight, text_chunk
from tests.inspector.captured_signatures import asked
from tests.inspector.reading import read


def test_the_request_is_proved_by_its_hash(client: Client, session: Session) -> None:
    exchange = answered(session, "Hello", "Hi")
    page = read(client, exchange, "wire")
    assert ">proved<" in page
    assert exchange.request_sha256 in page


def test_the_way_of_a_request_is_its_own(client: Client, session: Session, alice: User) -> None:
    exchange = answered(session, "Hello", "Hi")
    assert f"POST /v1beta/models/{exchange.model}:streamGenerateContent?alt=sse" in read(
        client, exchange, "wire"
    )
    program = Program(CaptureAddress.issue(alice.pk, "Laptop")[0])
    captured = asked(program, [user("How hot is it?")], {"text": "Hot."}, name="gemini-2.5-flash")
    page = read(client, captured, "wire")
    assert "POST /v1beta/models/gemini-2.5-flash:generateContent" in page
    assert "streamGenerateContent" not in page


def test_a_source_that_changed_fails_the_proof(client: Client, session: Session) -> None:
    exchange = answered(session, "Hello", "Hi")
    other = Source.objects.exclude(name="clock").first()
    assert other is not None
    Source.objects.filter(name="clock").update(blob=other.blob)
    assert ">differs<" in read(client, exchange, "wire")


def test_the_download_is_what_was_sent(client: Client, session: Session) -> None:
    _, exchange = play_flight(session)
    response = client.get(reverse("exchange-request", args=[session.public, exchange.number]))
    assert response["Content-Type"] == "application/json"
    assert hashlib.sha256(response.content).hexdigest() == exchange.request_sha256
    assert orjson.loads(response.content)["contents"]


def test_the_response_is_downloaded_chunk_by_chunk(client: Client, session: Session) -> None:
    bodies = [text_chunk("Hé "), text_chunk("there", finish="STOP")]
    exchange = make_exchange(make_run(session), bodies)
    response = client.get(reverse("exchange-response", args=[session.public, exchange.number]))
    assert response["Content-Type"] == "application/x-ndjson"
    assert response.content == b"".join(body + b"\n" for body in bodies)


def test_the_raw_view_shows_chunks_exactly(session: Session) -> None:
    bodies = [text_chunk("Hé "), text_chunk("there", finish="STOP")]
    exchange = make_exchange(make_run(session), bodies)
    shown = WireTab().context(exchange, raw=True)
    assert [chunk.parts[0].text.encode() for chunk in shown.chunks] == bodies


def test_a_very_long_stream_shows_its_beginning_and_says_so(client: Client, session: Session) -> None:
    exchange = make_exchange(make_run(session), [text_chunk("word ")] * (CHUNKS + 5))
    shown = WireTab().context(exchange, raw=False)
    assert (len(shown.chunks), shown.chunk_count) == (CHUNKS, CHUNKS + 5)
    assert f"The first {CHUNKS} of {CHUNKS + 5} chunks" in read(client, exchange, "wire")


def test_an_exchange_without_an_answer_has_no_chunks(client: Client, session: Session) -> None:
    exchange = make_exchange(make_run(session), [])
    Exchange.objects.filter(pk=exchange.pk).update(outcome="empty")
    assert "No chunk arrived." in read(client, exchange, "wire")


@pytest.fixture
def translated(session: Session) -> Exchange:
    """An exchange that went through the OpenAI-compatible endpoint."""
    exchange = answered(session, "Hello", "Hi")
    exchange.dialect = Dialect.OPENAI
    travelled = openai_request(exchange.model, exchange.request_body())
    exchange.sent_sha256 = hashlib.sha256(travelled).hexdigest()
    exchange.save()
    return exchange


def test_a_chat_completion_is_shown_and_proved_by_its_own_hash(client: Client, translated: Exchange) -> None:
    shown = WireTab().context(translated, raw=True)
    assert orjson.loads(shown.request[0].text)["messages"]
    assert shown.is_faithful and shown.sha256 == translated.sent_sha256 != translated.request_sha256
    page = read(client, translated, "wire")
    assert ">proved<" in page and "the chat completion that travelled" in page


def test_the_download_of_a_chat_completion_is_what_travelled(client: Client, translated: Exchange) -> None:
    address = reverse("exchange-request", args=[translated.session.public, translated.number])
    assert hashlib.sha256(client.get(address).content).hexdigest() == translated.sent_sha256


def test_a_chat_completion_that_was_noted_otherwise_fails_the_proof(
    client: Client, translated: Exchange
) -> None:
    Exchange.objects.filter(pk=translated.pk).update(sent_sha256="0" * 64)
    page = read(client, translated, "wire")
    assert ">differs<" in page and "000000000000…" in page
