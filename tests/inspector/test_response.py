from django.test import Client
from django.urls import reverse

from sessions_app.models import Exchange, RawChunk, Session
from tests.factories import USAGE, answered, make_exchange, make_run, text_chunk
from tests.inspector.reading import read


def test_the_reply_is_folded_into_its_parts(client: Client, session: Session) -> None:
    bodies = [
        text_chunk("I think.", thought=True),
        text_chunk("It is "),
        text_chunk("late.", finish="STOP", usage=USAGE),
    ]
    page = read(client, make_exchange(make_run(session), bodies), "response")
    assert "folded from 3 chunks" in page
    assert "I think." in page
    assert "It is late." in page
    assert "The answer is complete." in page


def test_usage_is_shown_as_reported(client: Client, session: Session) -> None:
    exchange = answered(session, "Hello", "Hi")
    Exchange.objects.filter(pk=exchange.pk).update(usage={"promptTokensDetails": [{"modality": "TEXT"}]})
    page = read(client, exchange, "response")
    assert "promptTokensDetails" in page
    assert "&quot;modality&quot;: &quot;TEXT&quot;" in page


def test_an_outcome_comes_with_what_to_do(client: Client, session: Session) -> None:
    page = read(
        client, make_exchange(make_run(session), [text_chunk("Half", finish="MAX_TOKENS")]), "response"
    )
    assert "cut off at the output limit" in page
    assert "Ask the model to go on" in page


def test_an_error_in_the_stream_is_shown(client: Client, session: Session) -> None:
    body = b'{"error":{"code":503,"message":"Overloaded","status":"UNAVAILABLE"}}'
    page = read(client, make_exchange(make_run(session), [text_chunk("Half"), body]), "response")
    assert "Overloaded" in page


def test_a_chunk_that_is_not_json_does_not_hide_the_rest(client: Client, session: Session) -> None:
    exchange = make_exchange(make_run(session), [text_chunk("Whole")])
    RawChunk.objects.create(exchange=exchange, seq=9, ms=9, body=b"{broken")
    page = read(client, exchange, "response")
    assert "1 chunk could not be read: no JSON" in page
    assert "Whole" in page


def test_the_raw_view_is_the_folded_content(client: Client, session: Session) -> None:
    page = read(
        client, make_exchange(make_run(session), [text_chunk("Hi", finish="STOP")]), "response", "raw"
    )
    assert (
        "{&quot;role&quot;:&quot;model&quot;,&quot;parts&quot;:[{&quot;text&quot;:&quot;Hi&quot;}]}" in page
    )


def test_a_long_reply_can_be_read_whole(client: Client, session: Session) -> None:
    exchange = make_exchange(make_run(session), [text_chunk("y" * 30_000 + "THE-END", finish="STOP")])
    assert "THE-END" not in read(client, exchange, "response")
    whole = reverse("exchange-whole", args=[session.public, exchange.number, "reply", 0])
    assert "THE-END" in client.get(whole).content.decode()
