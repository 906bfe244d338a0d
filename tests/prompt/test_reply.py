import json
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.prompt.parts import raw_parts
from sessions_app.prompt.reply import Folder, Outcome, Usage, fold
from tests.prompt.examples import SIGNATURE, call, chunk, text


def parts(*bodies: bytes) -> list[dict[str, Any]]:
    wire = fold(bodies).wire
    return raw_parts(wire) if wire else []


def test_adjacent_texts_are_joined() -> None:
    assert parts(chunk(text("Hel")), chunk(text("lo"), text("."))) == [text("Hello.")]


def test_thoughts_and_answer_stay_apart() -> None:
    reply = fold([chunk(text("hm", thought=True)), chunk(text("m", thought=True)), chunk(text("Yes"))])
    assert (reply.thoughts, reply.text) == ("hmm", "Yes")
    assert raw_parts(reply.wire or b"") == [text("hmm", thought=True), text("Yes")]


def test_the_empty_text_that_carries_the_signature_stays_a_part() -> None:
    tail = text("", thoughtSignature=SIGNATURE)
    assert parts(chunk(text("Hello")), chunk(tail, finishReason="STOP")) == [text("Hello"), tail]


def test_a_signed_text_is_not_joined_with_what_follows() -> None:
    signed = text("A", thoughtSignature=SIGNATURE)
    assert parts(chunk(signed), chunk(text("B")), chunk(text("C"))) == [signed, text("BC")]


def test_a_part_with_an_unknown_key_stays_as_it_came() -> None:
    odd = text("b", novelty={"z": 1, "a": 2})
    assert parts(chunk(text("a")), chunk(odd), chunk(text("c"))) == [text("a"), odd, text("c")]


def test_parallel_calls_of_separate_chunks_end_in_one_content() -> None:
    bodies = [chunk(call("a", SIGNATURE)), chunk(call("b")), chunk(text(""), finishReason="STOP")]
    assert parts(*bodies) == [call("a", SIGNATURE), call("b"), text("")]
    assert [each.name for each in fold(bodies).calls] == ["a", "b"]


def test_argument_order_is_kept() -> None:
    assert b'{"b":5,"a":4}' in (fold([chunk(call("sum", b=5, a=4))]).wire or b"")


def test_streamed_arguments_become_one_signed_part() -> None:
    raw: list[dict[str, Any]] = [
        {"functionCall": {"name": "cook", "willContinue": True}, "thoughtSignature": SIGNATURE},
        {
            "functionCall": {
                "partialArgs": [{"jsonPath": "$.dish", "stringValue": "soup"}],
                "willContinue": True,
            }
        },
        {"functionCall": {}},
    ]
    folder = Folder()
    views = [folder.add(chunk(part)) for part in raw]
    assert [len(view.calls) for view in views] == [0, 0, 1]
    assert folder.reply().calls[0].args == {"dish": "soup"}
    assert parts(*map(chunk, raw)) == [call("cook", SIGNATURE, dish="soup")]


def test_a_chunk_view_shows_what_came() -> None:
    view = Folder().add(
        chunk(text("hm", thought=True), text("", thoughtSignature="AAEC"), finishReason="STOP")
    )
    assert view.deltas == (("thought", "hm"),)
    assert view.signatures == ((1, b"\x00\x01\x02"),)
    assert view.finish_reason == "STOP"


def test_an_emoji_cut_between_chunks_is_healed() -> None:
    first = rb'{"candidates":[{"content":{"parts":[{"text":"a\ud83d"}]}}]}'
    second = rb'{"candidates":[{"content":{"parts":[{"text":"\ude00b"}]},"finishReason":"STOP"}]}'
    folder = Folder()
    shown = [delta for body in (first, second) for delta in folder.add(body).deltas]
    assert shown == [("text", "a"), ("text", "😀b")]
    assert folder.reply().text == "a😀b"


@pytest.mark.parametrize("letter", ["\U00010000", "\U0010ffff"])
def test_the_first_and_the_last_letter_of_two_halves_are_healed_too(letter: str) -> None:
    written = json.dumps({"candidates": [{"content": {"parts": [{"text": letter}]}}]})
    high, low = (rf"\u{json.dumps(letter)[at : at + 4]}" for at in (3, 9))
    bodies = (written.replace(high + low, half) for half in (high, low))
    folder = Folder()
    assert [delta for body in bodies for delta in folder.add(body.encode()).deltas] == [("text", letter)]


def test_a_nul_and_a_huge_signature_survive() -> None:
    huge = "A" * 1_400_000
    assert parts(chunk(text("\x00", thoughtSignature=huge))) == [text("\x00", thoughtSignature=huge)]


def test_only_the_last_usage_counts() -> None:
    bodies = [
        orjson.dumps({"usageMetadata": {"promptTokenCount": n, "totalTokenCount": n}}) for n in (211, 646)
    ]
    usage = fold([*bodies, orjson.dumps({"usageMetadata": {"trafficType": "ON_DEMAND"}})]).usage
    assert (usage.prompt, usage.total) == (646, 646)


def test_the_last_usage_counts_without_a_total_too() -> None:
    counts = ({"promptTokenCount": 5_000, "candidatesTokenCount": n} for n in (1, 9))
    bodies = [orjson.dumps({"usageMetadata": one}) for one in (*counts, {"trafficType": "ON_DEMAND"})]
    usage = fold(bodies).usage
    assert (usage.prompt, usage.output) == (5_000, 9)


def test_no_usage_is_all_zero() -> None:
    assert fold([chunk(text("x"))]).usage == Usage()


@pytest.mark.parametrize("body", [b'{"error":{"code":503}}', b'[{"error":{"code":503}}]'])
def test_an_error_object_is_reported(body: bytes) -> None:
    folder = Folder()
    folder.add(chunk(text("half")))
    assert folder.add(body).error == {"code": 503}
    assert (folder.reply().outcome, folder.reply().text) == (Outcome.FAILED, "half")


def test_a_reply_may_be_asked_for_before_the_end() -> None:
    folder = Folder()
    folder.add(chunk(text("a")))
    assert folder.reply().text == "a"
    folder.add(chunk(text("b"), finishReason="STOP"))
    assert (folder.reply().text, folder.reply().outcome) == ("ab", Outcome.COMPLETE)


def test_only_the_first_candidate_is_folded() -> None:
    second = {"index": 1, "content": {"parts": [text("other")]}}
    assert (
        fold([orjson.dumps({"candidates": [second, {"content": {"parts": [text("mine")]}}]})]).text == "mine"
    )


def test_asking_in_the_middle_of_a_call_does_not_break_it() -> None:
    folder = Folder()
    folder.add(chunk({"functionCall": {"name": "cook", "willContinue": True}}))
    folder.reply()
    view = folder.add(chunk({"functionCall": {"partialArgs": [{"jsonPath": "$.n", "numberValue": 1}]}}))
    assert view.calls == folder.reply().calls
    assert view.calls[0].args == {"n": 1}


KEYS = [
    "candidates",
    "content",
    "parts",
    "text",
    "thought",
    "functionCall",
    "finishReason",
    "thoughtSignature",
]
odd_json = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*KEYS, "usageMetadata"]), inner)
    ),
)


@given(odd_json)
def test_odd_but_valid_json_never_raises(value: Any) -> None:
    fold([orjson.dumps(value), orjson.dumps({"candidates": [{"content": value}]})])


@given(odd_json)
def test_odd_parts_never_raise(value: Any) -> None:
    fold(
        [
            orjson.dumps(
                {"candidates": [{"content": {"parts": [value, {"text": value}, {"functionCall": value}]}}]}
            )
        ]
    )


@given(
    st.lists(
        st.sampled_from([text("a"), text("b", thought=True), text("", thoughtSignature="AA=="), call("f")])
    )
)
def test_how_parts_are_cut_into_chunks_does_not_matter(pieces: list[dict[str, Any]]) -> None:
    assert fold([chunk(*pieces)]).wire == fold([chunk(piece) for piece in pieces]).wire
