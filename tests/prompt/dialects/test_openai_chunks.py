"""Chat completion chunks read as Gemini's, and the fold over them."""

import json
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.prompt.chunks import ChunkReader
from sessions_app.prompt.dialects.openai_chunks import OBJECT, gemini_chunk
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
        ("recitation", "RECITATION"),
        ("paused_by_moon", "paused_by_moon"),
        ("content_filter: New_Word", "New_Word"),
    ],
)
def test_a_finish_reason_becomes_geminis_and_a_new_one_stays_as_it_is(word: str, reason: str) -> None:
    assert gemini_chunk(chunk({}, word))["candidates"][0]["finishReason"] == reason


@pytest.mark.parametrize(
    ("delta", "expected"),
    [
        ({"content": "No.", "refusal": "Not that."}, [{"text": "No."}, {"delta.refusal": "Not that."}]),
        ({"content": [{"type": "text"}]}, [{"delta.content": [{"type": "text"}]}]),
        ({"content": "Yes", "refusal": None, "audio": {}, "notes": [], "reasoning": ""}, [{"text": "Yes"}]),
        # Of the format as it was: no call of Gemini's, although it has the name of one.
        ({"function_call": {"name": "f"}}, [{"delta.function_call": {"name": "f"}}]),
        (
            {"tool_calls": [{"type": "x", "x": {"a": 1}}]},
            [{"delta.tool_calls[]": {"type": "x", "x": {"a": 1}}}],
        ),
    ],
)
def test_an_unknown_key_of_a_delta_becomes_a_part_of_an_unknown_kind(
    delta: Wire, expected: list[Wire]
) -> None:
    assert parts(delta) == expected


def test_an_unknown_key_of_a_call_stands_beside_the_call() -> None:
    one = called("f", mood="good")
    one["function"]["tone"] = "calm"
    (part,) = parts({"tool_calls": [one]})
    assert part.pop("functionCall") == {"id": "id-f", "name": "f", "args": {}}
    assert part == {"tool_calls[].mood": "good", "tool_calls[].function.tone": "calm"}


def test_unknown_keys_beside_the_delta_are_kept_by_their_place() -> None:
    event = chunk({"content": "Hi", "extra_content": {"acme": 1, "google": {"new": 2}}}, usage={"odd": 3})
    event["choices"][0]["mood"] = "good"
    found = ChunkReader("openai").read(orjson.dumps(event | {"moodToken": "t", "created": 1}))
    assert found is not None and found.parts == [{"text": "Hi"}]
    assert found.unknown == {
        "moodToken": "t",
        "choices[].mood": "good",
        "delta.extra_content.acme": 1,
        "delta.extra_content.google.new": 2,
        "usage.odd": 3,
    }


def test_an_error_inside_a_chunk_is_one() -> None:
    assert fold([orjson.dumps(chunk({}, error={"message": "No."}))], "openai").outcome is Outcome.FAILED


def test_thoughts_are_what_the_total_has_more() -> None:
    usage = {
        "prompt_tokens": 10,
        "completion_tokens": 3,
        "total_tokens": 20,
        "prompt_tokens_details": {"cached_tokens": 4},
    }
    found = fold([orjson.dumps(chunk({"content": "Hi"}, "stop", usage=usage))], "openai").usage
    assert (found.prompt, found.cached, found.output, found.thoughts, found.total) == (10, 4, 3, 7, 20)


@pytest.mark.parametrize("usage", [{}, {"odd": 3}, {"prompt_tokens": None, "total_tokens": 7}])
def test_a_usage_without_a_count_of_the_prompt_is_none(usage: dict[str, Any]) -> None:
    found = fold([orjson.dumps(chunk({"content": "Hi"}, "stop", usage=usage))], "openai").usage
    assert not found.is_counted and found.thoughts == 0


def test_a_chunk_without_usage_reports_none() -> None:
    assert fold([orjson.dumps(chunk({"content": "Hi"}))], "openai").usage == Usage()


def test_a_whole_stream_folds_into_one_content() -> None:
    stream = [
        chunk({"content": "<thought>Hm</thought>", "extra_content": THOUGHT, "role": "assistant"}),
        chunk({"content": "Ye"}),
        chunk({"content": "s"}),
        chunk({"extra_content": SIGNED}, "stop"),
    ]
    reply = fold((orjson.dumps(one) for one in stream), "openai")
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
    reply = fold((orjson.dumps(one) for one in stream), "openai")
    assert (reply.text, reply.thoughts) == ("", "Two cities, two calls.")
    assert [call.name for call in reply.calls] == ["a", "b"] and reply.outcome is Outcome.CALLS


def test_calls_are_the_outcome_of_a_stream_of_calls() -> None:
    reply = fold([orjson.dumps(chunk({"tool_calls": [called("f")]}, "tool_calls"))], "openai")
    assert reply.outcome is Outcome.CALLS and reply.calls[0].id == "id-f"


NEW_KEYS: st.SearchStrategy[Wire] = st.dictionaries(
    st.sampled_from(["x", "y-z", "functionCall", "function_call", "text", "thought"]),
    st.sampled_from([None, True, 0, 10**30, "", "\0", "\ud800", {"name": "h"}, [], [{"b": {}}]]),
    max_size=2,
)


@given(st.data())
def test_new_words_anywhere_lose_no_text_and_add_no_call(data: st.DataObject) -> None:
    stream = []
    for delta in ({"content": "One "}, {"content": "two"}, {"tool_calls": [called("f", '{"a":1}')]}):
        event = chunk(data.draw(NEW_KEYS) | delta, **data.draw(NEW_KEYS))
        event["choices"][0] |= data.draw(NEW_KEYS)
        stream.append(event | {"usage": data.draw(NEW_KEYS)})
    stream.append(chunk({}, data.draw(st.sampled_from(["stop", "new_reason", "99"]))))
    reply = fold((json.dumps(one).encode() for one in stream), "openai")
    assert (reply.text, reply.outcome) == ("One two", Outcome.CALLS)
    assert [(one.name, one.args) for one in reply.calls] == [("f", {"a": 1})]


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
    fold([orjson.dumps({"object": OBJECT, "choices": choices, "usage": usage})], "openai")
    fold([orjson.dumps({"object": OBJECT, "choices": [choices], "usage": usage})], "openai")
