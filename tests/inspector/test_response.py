import orjson
from django.test import Client
from django.urls import reverse

from sessions_app.inspector.tabs.response_tab import ResponseTab, token_table
from sessions_app.models import Exchange, RawChunk, Run, Session
from sessions_app.prompt.chunks import TokenKind
from sessions_app.prompt.outcomes import Outcome
from sessions_app.wording import outcomes
from sessions_app.wording.token_kinds import LABELS
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


def test_how_it_ended_is_said_as_in_the_header(client: Client, session: Session) -> None:
    exchange = answered(session, "Hello", "Hi")
    Exchange.objects.filter(pk=exchange.pk).update(outcome=Outcome.UNFINISHED)
    for status in (Run.Status.STOPPED, Run.Status.INTERRUPTED, Run.Status.FAILED):
        Run.objects.filter(pk=exchange.run_id).update(status=status)
        shown = read(client, exchange, "response").partition("How it ended</h2>")[2].partition("<dl")[0]
        assert outcomes.sentence_in(status, Outcome.UNFINISHED) in shown


def test_of_several_candidates_it_says_that_one_is_shown(client: Client, session: Session) -> None:
    def event(*told_of: tuple[int, str, str]) -> bytes:
        told = [
            {"index": at, "content": {"role": "model", "parts": [{"text": text}]}}
            | ({"finishReason": reason} if reason else {})
            for at, text, reason in told_of
        ]
        return orjson.dumps({"candidates": told})

    bodies = [
        event((0, "One.", ""), (1, "Two", "")),
        event((1, ".", "MAX_TOKENS")),
        event((1, "", ""), (0, "", "STOP")),
    ]
    shown = ResponseTab().context(make_exchange(make_run(session), bodies), raw=False)
    assert shown.candidates == outcomes.candidates_came({0: "STOP", 1: "MAX_TOKENS"}) != ""
    assert [part.text for part in shown.parts] == ["One."]
    page = read(client, Exchange.objects.get(), "response")
    assert "2 candidates came" in page


def test_of_one_candidate_it_says_nothing(session: Session) -> None:
    exchange = answered(session, "Hello", "Hi")
    assert ResponseTab().context(exchange, raw=False).candidates == ""


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


BREAKDOWN = {
    "promptTokenCount": 1_300,
    "promptTokensDetails": [
        {"modality": "TEXT", "tokenCount": 1_000},
        {"modality": "IMAGE", "tokenCount": 258},
    ],
    "cachedContentTokenCount": 512,
    "cacheTokensDetails": [{"modality": "TEXT", "tokenCount": 512}],
    "toolUsePromptTokenCount": 40,
    "toolUsePromptTokensDetails": [{"modality": "TEXT", "tokenCount": 40}],
    "candidatesTokenCount": 9,
    "thoughtsTokenCount": 7,
    "totalTokenCount": 1_356,
}


def test_tokens_are_a_table_of_kinds_and_modalities() -> None:
    table = token_table(BREAKDOWN)
    assert table.modalities == ["IMAGE", "TEXT"]
    assert table.rows == [
        (LABELS[TokenKind.PROMPT], 1_300, [258, 1_000, 42]),
        (LABELS[TokenKind.CACHED], 512, [None, 512, 0]),
        (LABELS[TokenKind.TOOL_USE], 40, [None, 40, 0]),
        (LABELS[TokenKind.OUTPUT], 9, [None, None, None]),
        (LABELS[TokenKind.THOUGHTS], 7, [None, None, None]),
        (LABELS[TokenKind.TOTAL], 1_356, [None, None, None]),
    ]


def test_modalities_that_add_up_leave_no_column_and_none_is_made_up() -> None:
    whole = {"promptTokenCount": 5, "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 5}]}
    assert token_table(whole).rows == [(LABELS[TokenKind.PROMPT], 5, [5])]
    assert token_table({}).rows == []
    odd = {"promptTokenCount": True, "cacheTokensDetails": [None, {"modality": "TEXT"}, "x"], "other": 3}
    assert token_table(odd).rows == []


def test_the_table_is_where_usage_is_shown(client: Client, session: Session) -> None:
    exchange = answered(session, "Hello", "Hi")
    Exchange.objects.filter(pk=exchange.pk).update(usage=BREAKDOWN)
    page = read(client, exchange, "response")
    assert ">IMAGE<" in page and ">258<" in page and "Not named" in page


def test_a_refused_request_ended_with_what_the_provider_said(client: Client, session: Session) -> None:
    exchange = make_exchange(make_run(session), [])
    error = {"kind": "BadRequest", "code": 400, "message": "No such field.", "hint": "Look at what was sent."}
    Exchange.objects.filter(pk=exchange.pk).update(outcome="empty", error=error)
    page = read(client, exchange, "response")
    ended = page[page.index("How it ended") :]
    assert "No such field." in ended and "Look at what was sent." in ended
    assert "answered with nothing" not in page
    assert "<dt>Longest gap</dt><dd>–</dd>" in read(client, exchange, "stream")
