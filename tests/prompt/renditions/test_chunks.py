"""Chat completion chunks read as Gemini's, and the fold over them."""

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.prompt.renditions.chunks import OBJECT, gemini_chunk
from sessions_app.prompt.reply import Outcome, Usage, fold

Wire = dict[str, Any]

SIGNED = {"google": {"thought_signature": "QUJD"}}
THOUGHT = {"google": {"thought": True}}


def chunk(delta: Wire | None = None, finish: str | None = None, **more: Any) -> Wire:
    choice: Wire = {"index": 0, **({"delta": delta} if delta is not None else {})}
    choice |= {"finish_reason": finish} if finish else {}
    return {"object": OBJECT, "id": "r1", "model": "gemini-x", "choices": [choice], **more}


def called(name: str, arguments: Any = "{}", **more: Any) -> Wire:
    return {
        "id": f"id-{name}",
        "type": "function",
        "function": {"name": name, "arguments": arguments},
        **more,
    }


def parts(delta: Wire) -> list[Wire]:
    candidate = gemini_chunk(chunk(delta))["candidates"][0]
    found: list[Wire] = candidate.get("content", {}).get("parts", [])
    return found


def test_a_chunk_of_gemini_is_left_alone() -> None:
    own = {"candidates": [{"content": {"parts": [{"text": "Hi"}]}}]}
    assert gemini_chunk(own) is own


@pytest.mark.parametrize(
    ("delta", "expected"),
    [
        ({"content": "Hi"}, [{"text": "Hi"}]),
        ({"content": ""}, []),
        ({"role": "assistant"}, []),
        ({"content": "<thought>Hm</thought>", "extra_content": THOUGHT}, [{"text": "Hm", "thought": True}]),
        ({"content": "<thought>Hm", "extra_content": THOUGHT}, [{"text": "Hm", "thought": True}]),
        ({"content": "still", "extra_content": THOUGHT}, [{"text": "still", "thought": True}]),
        (
            {"content": "<thought>Hm</thought>Yes", "extra_content": THOUGHT},
            [{"text": "Hm", "thought": True}, {"text": "Yes"}],
        ),
        (
            {"content": "<thought>a</thought><thought>b</thought>", "extra_content": THOUGHT},
            [{"text": "a", "thought": True}, {"text": "b", "thought": True}],
        ),
        ({"content": "</thought>Yes"}, [{"text": "Yes"}]),
        ({"content": "a <thought> in a text"}, [{"text": "a <thought> in a text"}]),
        ({"content": "Yes", "extra_content": SIGNED}, [{"text": "Yes", "thoughtSignature": "QUJD"}]),
        ({"extra_content": SIGNED}, [{"text": "", "thoughtSignature": "QUJD"}]),
    ],
)
def test_a_delta_becomes_parts(delta: Wire, expected: list[Wire]) -> None:
    assert parts(delta) == expected


def test_a_call_keeps_its_id_and_its_signature() -> None:
    (part,) = parts({"tool_calls": [called("f", '{"a":1}', extra_content=SIGNED)]})
    assert part == {
        "functionCall": {"id": "id-f", "name": "f", "args": {"a": 1}},
        "thoughtSignature": "QUJD",
    }


def test_parallel_calls_keep_their_order_and_the_first_its_signature() -> None:
    found = parts({"tool_calls": [called("a", extra_content=SIGNED), called("b")]})
    assert [part["functionCall"]["name"] for part in found] == ["a", "b"]
    assert ["thoughtSignature" in part for part in found] == [True, False]


@pytest.mark.parametrize("arguments", ["{broken", "[1]", "", None, 7])
def test_arguments_that_are_no_object_become_an_empty_one(arguments: Any) -> None:
    assert parts({"tool_calls": [called("f", arguments)]})[0]["functionCall"]["args"] == {}


@pytest.mark.parametrize(
    ("word", "reason"),
    [
        ("stop", "STOP"),
        ("tool_calls", "STOP"),
        ("length", "MAX_TOKENS"),
        ("content_filter", "SAFETY"),
        ("content_filter: RECITATION", "RECITATION"),
        ("function_call_filter: MALFORMED_FUNCTION_CALL", "MALFORMED_FUNCTION_CALL"),
        ("new_word", "NEW_WORD"),
    ],
)
def test_a_finish_reason_becomes_geminis(word: str, reason: str) -> None:
    assert gemini_chunk(chunk({}, word))["candidates"][0]["finishReason"] == reason


def test_thoughts_are_what_the_total_has_more() -> None:
    usage = {
        "prompt_tokens": 10,
        "completion_tokens": 3,
        "total_tokens": 20,
        "prompt_tokens_details": {"cached_tokens": 4},
    }
    found = fold([orjson.dumps(chunk({"content": "Hi"}, "stop", usage=usage))]).usage
    assert (found.prompt, found.cached, found.output, found.thoughts, found.total) == (10, 4, 3, 7, 20)


def test_a_chunk_without_usage_reports_none() -> None:
    assert fold([orjson.dumps(chunk({"content": "Hi"}))]).usage == Usage()


def test_a_whole_stream_folds_into_one_content() -> None:
    stream = [
        chunk({"content": "<thought>Hm</thought>", "extra_content": THOUGHT, "role": "assistant"}),
        chunk({"content": "Ye"}),
        chunk({"content": "s"}),
        chunk({"extra_content": SIGNED}, "stop"),
    ]
    reply = fold(orjson.dumps(one) for one in stream)
    assert (reply.text, reply.thoughts, reply.outcome) == ("Yes", "Hm", Outcome.COMPLETE)
    assert (reply.model_version, reply.response_id) == ("gemini-x", "r1")
    assert reply.wire == (
        b'{"role":"model","parts":[{"text":"Hm","thought":true},{"text":"Yes"},'
        b'{"text":"","thoughtSignature":"QUJD"}]}'
    )


def test_thoughts_open_in_one_chunk_and_close_in_the_first_of_the_answer() -> None:
    stream = [
        chunk({"content": "<thought>Two cities, ", "extra_content": THOUGHT}),
        chunk({"content": "two calls.", "extra_content": THOUGHT}),
        chunk({"content": "</thought>", "tool_calls": [called("a", extra_content=SIGNED)]}),
        chunk({"tool_calls": [called("b")]}),
        chunk({"content": None, "extra_content": None}, "stop"),
    ]
    reply = fold(orjson.dumps(one) for one in stream)
    assert (reply.text, reply.thoughts) == ("", "Two cities, two calls.")
    assert [call.name for call in reply.calls] == ["a", "b"] and reply.outcome is Outcome.CALLS


def test_calls_are_the_outcome_of_a_stream_of_calls() -> None:
    reply = fold([orjson.dumps(chunk({"tool_calls": [called("f")]}, "tool_calls"))])
    assert reply.outcome is Outcome.CALLS and reply.calls[0].id == "id-f"


_KEYS = (
    "delta",
    "content",
    "tool_calls",
    "function",
    "extra_content",
    "google",
    "thought",
    "thought_signature",
    "name",
    "arguments",
    "finish_reason",
    "index",
    "id",
)
_json = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.sampled_from(["", "x", "<thought>", "{}"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(_KEYS), inner, max_size=4),
    max_leaves=12,
)


@given(choices=_json, usage=_json)
def test_odd_chunks_never_raise(choices: Any, usage: Any) -> None:
    fold([orjson.dumps({"object": OBJECT, "choices": choices, "usage": usage})])
    fold([orjson.dumps({"object": OBJECT, "choices": [choices], "usage": usage})])
