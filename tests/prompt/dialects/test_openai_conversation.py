"""What was said in a chat completion: messages and answer, as a person reads them."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.prompt.dialects.conversation import Conversation, SaidMessage
from sessions_app.prompt.dialects.openai_conversation import conversation_in
from tests.prompt.dialects.test_openai_chunks import SIGNED, THOUGHT, Wire, called, chunk

ASKED = {"role": "user", "content": "How long does it bake?"}


def conversation(*messages: Any, answer: list[Wire] | None = None, **more: Any) -> Conversation:
    body = json.dumps({"model": "gemini-x", "messages": messages, **more}).encode()
    found = conversation_in(body, [json.dumps(one).encode() for one in answer or []])
    assert found is not None
    return found


def test_messages_are_told_with_calls_results_and_files() -> None:
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}}
    found = conversation(
        {"role": "developer", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": "What is it?"}, picture]},
        {"role": "assistant", "content": None, "tool_calls": [called("look", '{"at": 1}')]},
        {"role": "tool", "tool_call_id": "id-look", "content": "a loaf"},
    )
    assert found.model == "gemini-x" and found.messages == (
        SaidMessage("developer", "Be brief."),
        SaidMessage("user", "What is it?\n[image_url]"),
        SaidMessage("assistant", 'look({"at": 1})'),
        SaidMessage("tool", "a loaf"),
    )


USAGE = {"prompt_tokens": 12, "completion_tokens": 4, "total_tokens": 20}


def test_a_streamed_answer_is_the_last_message() -> None:
    thought = chunk({"content": "<thought>Hm.", "extra_content": THOUGHT})
    answer = [
        thought,
        chunk({"content": "</thought>Half "}),
        chunk({"content": "an hour."}, "stop", usage=USAGE),
    ]
    found = conversation(ASKED, answer=answer)
    assert found.messages[-1] == SaidMessage("assistant", "Hm.\nHalf an hour.")
    assert (found.usage.prompt, found.usage.output, found.usage.thoughts) == (12, 4, 4)


def test_an_answer_in_one_piece_has_its_calls_too() -> None:
    message = {
        "role": "assistant",
        "content": "I look.",
        "tool_calls": [called("look", extra_content=SIGNED)],
    }
    whole = {"object": "chat.completion", "id": "r", "model": "m", "usage": USAGE}
    found = conversation(ASKED, answer=[whole | {"choices": [{"index": 0, "message": message}]}])
    assert found.messages[-1] == SaidMessage("assistant", "I look.\nlook({})\n[signature]")
    assert found.usage.prompt == 12 and found.served == "m"
    sent_back = conversation(ASKED, message)
    assert sent_back.messages[-1].text == "I look.\nlook({})\n[signature]"


def test_the_signature_of_a_text_is_told_in_answer_and_request() -> None:
    answer = [chunk({"content": "Half an hour.", "extra_content": SIGNED})]
    sent_back = {"role": "assistant", "content": "Half an hour.", "extra_content": SIGNED}
    found = conversation(ASKED, sent_back, answer=answer)
    assert [message.text for message in found.messages[1:]] == ["Half an hour.\n[signature]"] * 2


def test_a_refusal_has_the_providers_words() -> None:
    found = conversation(ASKED, answer=[{"error": {"code": 404, "message": "models/nope is not found"}}])
    assert found.refusal == "models/nope is not found" and found.messages == (("user", ASKED["content"]),)


@pytest.mark.parametrize("body", [b"", b"[]", b"{}", b'{"messages": "x"}', b"nope", b"[" * 100_000])
def test_what_is_no_request_for_a_completion_is_none(body: bytes) -> None:
    assert conversation_in(body, []) is None


@given(
    st.recursive(
        st.none() | st.integers() | st.text(),
        lambda one: (
            st.lists(one)
            | st.dictionaries(
                st.sampled_from(["role", "content", "tool_calls", "function", "name", "text", "type"]), one
            )
        ),
    )
)
def test_nothing_is_refused(value: Any) -> None:
    messages = value if isinstance(value, list) else [value]
    choices = {"object": "chat.completion", "choices": messages}
    assert conversation(*messages, answer=[choices]).model == "gemini-x"
