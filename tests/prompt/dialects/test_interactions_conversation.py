"""What was said in an interaction: its steps, as a person reads them."""

import json
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.emulator import Emulator
from sessions_app.gemini.event_stream import EventSplitter
from sessions_app.prompt.dialects.conversation import Conversation, SaidMessage
from sessions_app.prompt.dialects.interactions_conversation import interaction_in
from tests.emulator.helpers import FLASH, Wire, send
from tests.emulator.interaction_helpers import TOOLS, WEATHER, calls, create, result, text_of

SUMMARIES: dict[str, Any] = {"generation_config": {"thinking_summaries": "auto"}}


def said(body: Wire, *chunks: Wire) -> Conversation:
    found = interaction_in(json.dumps(body).encode(), [json.dumps(one).encode() for one in chunks])
    assert found is not None
    return found


def told(emulator: Emulator, method: str, path: str, body: Wire | None = None, **query: Any) -> Conversation:
    """Of a request to the emulator and the bytes of its answer."""
    sent = orjson.dumps(body) if body else b""
    splitter = EventSplitter()
    answer = send(emulator, method, path, sent, **query)[1]
    found = interaction_in(sent, [*splitter.feed(answer), *splitter.close()])
    assert found is not None
    return found


@pytest.fixture
def emulator() -> Emulator:
    return Emulator(delay=0)


def test_an_interaction_is_told_whole(emulator: Emulator) -> None:
    asked = {"model": FLASH, "input": "hello", "system_instruction": "Be brief.", **SUMMARIES}
    whole = create(emulator, "hello", system_instruction="Be brief.", **SUMMARIES)
    found = said(asked, whole)
    roles = [message.role for message in found.messages]
    assert roles == ["system_instruction", "user_input", "thought", "model_output"]
    texts = [message.text for message in found.messages]
    assert texts[:2] == ["Be brief.", "hello"] and texts[3] == text_of(whole)
    assert texts[2] == "".join(one["text"] for one in whole["steps"][0]["summary"]) + "\n[signature]"
    assert (found.model, found.name, found.status) == (FLASH, whole["id"], "completed")
    counts = ("input", "cached", "output", "thought", "tool_use")
    usage = found.usage
    assert [usage.prompt, usage.cached, usage.output, usage.thoughts, usage.tool_use] == [
        whole["usage"][f"total_{name}_tokens"] for name in counts
    ]
    assert usage.is_counted and usage.total == whole["usage"]["total_tokens"]


@pytest.mark.parametrize("text", ["hello", WEATHER, "/think hello", "show me a table"])
def test_a_stream_and_the_stored_interaction_tell_the_same(emulator: Emulator, text: str) -> None:
    asked: Wire = {"model": FLASH, "input": text, "tools": TOOLS, **SUMMARIES}
    streamed = told(emulator, "POST", "interactions", asked | {"stream": True})
    stored = told(emulator, "GET", f"interactions/{streamed.name}")
    again = told(emulator, "GET", f"interactions/{streamed.name}", stream="true")
    assert len(streamed.messages) > 2 and stored == streamed
    assert again.messages == streamed.messages[1:]


def test_calls_and_results_are_told_and_what_the_provider_keeps_is_named(emulator: Emulator) -> None:
    first = create(emulator, WEATHER, tools=TOOLS)
    results = [result(call, {"temp": "15C"}) for call in calls(first)]
    second = create(emulator, results, tools=TOOLS, previous_interaction_id=first["id"])
    body = {"model": FLASH, "input": results, "previous_interaction_id": first["id"]}
    found = said(body, second)
    assert found.continued == first["id"] and first["status"] == "requires_action"
    assert found.messages[:2] == (("function_result", 'get_current_temperature: {"temp":"15C"}'),) * 2
    called = [message.text for message in said({"input": WEATHER}, first).messages if "call" in message.role]
    assert called == [f'get_current_temperature({{"location":"{city}"}})' for city in ("Paris", "London")]


def test_contents_in_a_row_are_one_input() -> None:
    picture = {"type": "image", "data": "AA", "mime_type": "image/png"}
    contents = [{"type": "text", "text": "What is it?"}, picture]
    steps = [{"type": "model_output", "content": [{"type": "text", "text": "a loaf"}]}, *contents]
    told_twice = ("user_input", "What is it?\n[image]")
    assert said({"input": contents}).messages == (told_twice,)
    assert said({"input": contents[0]}).messages == (("user_input", "What is it?"),)
    assert said({"input": steps}).messages == (("model_output", "a loaf"), told_twice)


def test_pieces_go_on_from_what_a_step_began_with() -> None:
    begun = {"type": "model_output", "content": [{"type": "text", "text": "Half "}]}
    deltas = [
        {"type": "text", "text": "an "},
        {"type": "text", "text": "hour."},
        {"type": "image", "data": "AA"},
    ]
    events = [{"index": 3, "delta": one} for one in deltas]
    found = said({"input": "How long?"}, {"index": 3, "step": begun}, *events)
    assert found.messages[1:] == (SaidMessage("model_output", "Half an hour.\n[image]"),)


@pytest.mark.parametrize(
    "answer",
    [
        {"error": {"message": "model not found", "code": "not_found"}},
        {"error": {"code": 404, "message": "model not found", "status": "NOT_FOUND"}},
        {"event_type": "error", "error": {"message": "model not found"}},
        {"object": "interaction", "status": "failed", "errors": [{"message": "model not found"}]},
    ],
)
def test_a_refusal_has_the_providers_words(answer: Wire) -> None:
    found = said({"model": "m", "input": "hi"}, answer)
    assert found.refusal == "model not found" and found.messages == (("user_input", "hi"),)


@pytest.mark.parametrize("body", [b"", b"[]", b"{}", b'{"contents": []}', b"nope", b"[" * 100_000])
def test_what_is_no_interaction_is_none(body: bytes) -> None:
    assert interaction_in(body, []) is None and interaction_in(b"", [body]) is None


NAMES = [
    *("type", "text", "content", "summary", "arguments", "result", "name", "signature", "index", "step"),
    *("delta", "steps", "interaction", "errors", "error", "usage"),
]
KINDS = st.sampled_from(
    ["text", "image", "thought_summary", "arguments_delta", "thought_signature", "thought"]
)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text() | KINDS,
        lambda one: st.lists(one) | st.dictionaries(st.sampled_from(NAMES), one),
    )
)
def test_nothing_is_refused(value: Any) -> None:
    events = [{"object": "interaction", "steps": [value]}, {"index": 0, "step": value, "delta": value}]
    assert said({"model": "m", "input": value}, *events, {"interaction": value}).model == "m"
