"""Tabs over an exchange whose raw chunks are chat completion chunks: the same reading, the same evidence."""

import base64
from typing import Any

import orjson
import pytest
from django.test import Client

from sessions_app.inspector.tabs.response_tab import ResponseTab
from sessions_app.inspector.tabs.signatures_tab import SignaturesTab
from sessions_app.inspector.tabs.stream_tab import StreamTab
from sessions_app.inspector.tabs.wire_tab import WireTab
from sessions_app.models import Exchange, Session
from sessions_app.prompt.dialects.openai_chunks import OBJECT
from tests.factories import answer_calls, make_exchange, make_run
from tests.inspector.reading import read

SIGNED = {"google": {"thought_signature": base64.b64encode(bytes(range(200, 256))).decode()}}
CALL = {
    "id": "function-call-1",
    "type": "function",
    "function": {"name": "check_flight", "arguments": '{"flight":"AA100"}'},
    "extra_content": SIGNED,
}
USAGE = {"prompt_tokens": 12, "completion_tokens": 3, "total_tokens": 20}


def chunk(delta: dict[str, Any], finish: str = "", **more: Any) -> bytes:
    choice = {"delta": delta, "index": 0} | ({"finish_reason": finish} if finish else {})
    return orjson.dumps({"choices": [choice], "object": OBJECT, "model": "gemini-x", **more})


@pytest.fixture
def played(session: Session) -> tuple[Exchange, Exchange]:
    """One round of tools through the OpenAI-compatible endpoint."""
    run = make_run(session)
    thought = {"content": "<thought>Look it up.", "extra_content": {"google": {"thought": True}}}
    calling = {"content": "</thought>", "tool_calls": [CALL]}
    first = make_exchange(run, [chunk(thought), chunk(calling, "tool_calls", usage=USAGE)], dialect="openai")
    answer_calls(run, {"status": "delayed"})
    return first, make_exchange(run, [chunk({"content": "It is late."}, "stop")], step=2, dialect="openai")


def test_the_reply_is_folded(played: tuple[Exchange, Exchange]) -> None:
    reply = ResponseTab().context(played[0], raw=False).reply
    assert (reply.thoughts, reply.usage.thoughts) == ("Look it up.", 5)
    assert [(call.name, call.args) for call in reply.calls] == [("check_flight", {"flight": "AA100"})]


def test_the_signature_is_traced_and_equal(played: tuple[Exchange, Exchange]) -> None:
    (received,) = SignaturesTab().read(played[0], {}).received
    (sent,) = SignaturesTab().read(played[1], {}).sent
    assert not received.state.is_alarm and not sent.state.is_alarm
    assert received.sha256 == sent.sha256


def test_the_strip_shows_what_each_chunk_brought(played: tuple[Exchange, Exchange]) -> None:
    arrivals = StreamTab().context(played[0], raw=False).arrivals
    assert [arrival.kinds for arrival in arrivals] == [("thought",), ("call", "signature", "usage", "end")]


def test_the_wire_keeps_the_bytes(client: Client, played: tuple[Exchange, Exchange]) -> None:
    shown = WireTab().context(played[1], raw=True)
    assert [one.parts[0].text.encode() for one in shown.chunks] == [chunk({"content": "It is late."}, "stop")]
    assert "chat.completion.chunk" in read(client, played[1], "wire")
