from typing import Any

import orjson
import pytest
from google.genai import types

from sessions_app.prompt.outcomes import Outcome
from sessions_app.prompt.reply import fold
from tests.prompt.examples import SIGNATURE, call, chunk, text

UNNAMED = {"FINISH_REASON_UNSPECIFIED", "STOP", "OTHER", "ESCALATION", "PUP_LIMITED_DISABLED"}
BLOCKED = orjson.dumps({"promptFeedback": {"blockReason": "SAFETY"}})
TORN = {"functionCall": {"name": "f", "willContinue": True}}
NO_CONTENT = b'{"candidates":[{"finishReason":"%s"}]}'


@pytest.mark.parametrize(
    ("bodies", "outcome"),
    [
        ([], Outcome.EMPTY),
        ([b"{}"], Outcome.EMPTY),
        ([BLOCKED], Outcome.BLOCKED),
        ([b'{"promptFeedback":{"blockReason":1}}'], Outcome.BLOCKED),
        ([BLOCKED, chunk(text("Hi"), finishReason="STOP")], Outcome.COMPLETE),
        ([chunk(text("x"), finishReason="STOP")], Outcome.COMPLETE),
        ([chunk(text("x"), finishReason=1)], Outcome.COMPLETE),
        ([chunk({"inlineData": {"data": ""}}, finishReason="STOP")], Outcome.COMPLETE),
        (
            [chunk(call("f"), finishReason="STOP", finishMessage="Model generated function call(s).")],
            Outcome.CALLS,
        ),
        ([chunk(text("x"))], Outcome.UNFINISHED),
        ([chunk(text("x"), finishReason=0)], Outcome.UNFINISHED),
        ([chunk(call("f"))], Outcome.UNFINISHED),
        ([chunk(text("hm", thought=True), finishReason="STOP")], Outcome.EMPTY),
        ([chunk(text("", thoughtSignature=SIGNATURE), finishReason="STOP")], Outcome.EMPTY),
        ([chunk(text("x"), finishReason=2)], Outcome.MAX_TOKENS),
        ([chunk(text("hm", thought=True), finishReason="MAX_TOKENS")], Outcome.NO_ROOM),
        ([chunk(call("f"), finishReason="MAX_TOKENS")], Outcome.MALFORMED_CALL),
        ([NO_CONTENT % b"SAFETY"], Outcome.SAFETY),
        ([NO_CONTENT % b"RECITATION"], Outcome.RECITATION),
        ([NO_CONTENT % b"MALFORMED_FUNCTION_CALL"], Outcome.MALFORMED_CALL),
        ([NO_CONTENT % b"UNEXPECTED_TOOL_CALL"], Outcome.UNEXPECTED_CALL),
        ([NO_CONTENT % b"MISSING_THOUGHT_SIGNATURE"], Outcome.MISSING_SIGNATURE),
        ([NO_CONTENT % b"OTHER"], Outcome.OTHER),
        ([chunk(text("x"), finishReason="OTHER")], Outcome.OTHER),
        # A reason that is not known is news: whole calls and text stand.
        ([NO_CONTENT % b"FAKE_NEW_REASON"], Outcome.UNKNOWN_REASON),
        ([chunk(text("hm", thought=True), finishReason="NEW")], Outcome.UNKNOWN_REASON),
        ([chunk(text("x"), finishReason=99)], Outcome.COMPLETE),
        ([chunk({"audioPatch": {"a": 1}}, finishReason="NEW")], Outcome.COMPLETE),
        ([chunk(call("f"), finishReason="FUNCTION_CALL")], Outcome.CALLS),
        ([chunk(text("x"), call("f"), finishReason="FUNCTION_CALL")], Outcome.CALLS),
        (
            [chunk(TORN, finishReason="NEW")],
            Outcome.UNKNOWN_REASON,
        ),
        ([chunk(text("x"), finishReason="CONTINUATION")], Outcome.UNFINISHED),
        ([chunk(text("x"), finishReason="CONTINUATION", continuationToken="dA==")], Outcome.CONTINUES),
        ([chunk(finishReason="CONTINUATION", continuationToken="dA==")], Outcome.CONTINUES),
    ],
)
def test_every_ending_has_its_own_outcome(bodies: list[Any], outcome: Outcome) -> None:
    assert fold(bodies).outcome == outcome


@pytest.mark.parametrize("reason", [reason for reason in types.FinishReason if reason.name not in UNNAMED])
def test_every_finish_reason_of_the_sdk_has_words_of_its_own(reason: types.FinishReason) -> None:
    assert fold([NO_CONTENT % reason.name.encode()]).outcome != Outcome.OTHER


def test_a_failed_reply_is_never_an_answer() -> None:
    assert [each for each in Outcome if each.is_answer] == [
        Outcome.COMPLETE,
        Outcome.CALLS,
        Outcome.MAX_TOKENS,
    ]
