"""Both examples of seed 2's OpenAI chapter, through the app's own gateway and fold."""

from typing import Any

import orjson
import pytest

from sessions_app.emulator.transport import EmulatorTransport
from sessions_app.errors import BadRequest, QuotaExceeded
from sessions_app.gemini.openai_gateway import OpenAIGateway
from sessions_app.prompt.calls import CallResponse
from sessions_app.prompt.reply import Outcome, Reply, fold
from sessions_app.prompt.signatures import signatures_of
from sessions_app.prompt.turns import Turn, TurnKind, tool_response, user_task
from sessions_app.prompt.wire import dumps
from tests.gemini.conftest import MODEL, read

FLIGHT = "Check flight status for AA100 and book a taxi 2 hours before if delayed."
WEATHER = "Check the weather in Paris and London."


def declared(**functions: str) -> list[dict[str, Any]]:
    """`tools` with one declaration a function, which takes one text."""
    return [
        {
            "functionDeclarations": [
                {
                    "name": name,
                    "parameters": {
                        "type": "object",
                        "properties": {argument: {"type": "string"}},
                        "required": [argument],
                    },
                }
                for name, argument in functions.items()
            ]
        }
    ]


TOOLS = declared(check_flight="flight", book_taxi="time", get_current_temperature="location")


@pytest.fixture
def gateway() -> OpenAIGateway:
    return OpenAIGateway.to_emulator(EmulatorTransport(delay=0))


async def ask(gateway: OpenAIGateway, turns: list[Turn]) -> Reply:
    contents = [orjson.loads(turn.wire) for turn in turns]
    chunks = await read(gateway, dumps({"contents": contents, "tools": TOOLS}))
    return fold((chunk.body for chunk in chunks), gateway.dialect)


def extended(turns: list[Turn], reply: Reply, *responses: dict[str, Any]) -> list[Turn]:
    answers = [CallResponse(call, response) for call, response in zip(reply.calls, responses, strict=True)]
    calling = Turn("calling", TurnKind.FUNCTION_CALLING, reply.wire or b"")
    return [*turns, calling, tool_response("answers", answers)]


async def test_sequential_calls_play_as_in_seed_2(gateway: OpenAIGateway) -> None:
    turns = [user_task("1", FLIGHT)]
    first = await ask(gateway, turns)
    turns = extended(turns, first, {"status": "delayed", "departure_time": "12 PM"})
    second = await ask(gateway, turns)
    turns = extended(turns, second, {"booking_status": "success"})
    last = await ask(gateway, turns)
    assert [call.name for reply in (first, second) for call in reply.calls] == ["check_flight", "book_taxi"]
    assert last.outcome is Outcome.COMPLETE and last.text


async def test_each_step_is_signed_on_its_call(gateway: OpenAIGateway) -> None:
    first = await ask(gateway, [user_task("1", FLIGHT)])
    (signature,) = signatures_of(first.wire or b"")
    assert signature.size > 0 and not signature.dummy


async def test_parallel_calls_play_as_in_seed_2(gateway: OpenAIGateway) -> None:
    turns = [user_task("1", WEATHER)]
    first = await ask(gateway, turns)
    assert len(first.calls) == 2 and len(signatures_of(first.wire or b"")) == 1
    last = await ask(gateway, extended(turns, first, {"temp": "15C"}, {"temp": "12C"}))
    assert last.outcome is Outcome.COMPLETE and last.text


async def test_a_signature_that_is_not_sent_back_is_missed(gateway: OpenAIGateway) -> None:
    """The endpoint checks what came back, so the two plays above prove where the signatures went."""
    turns = [user_task("1", FLIGHT)]
    first = await ask(gateway, turns)
    content = orjson.loads(first.wire or b"")
    for part in content["parts"]:
        part.pop("thoughtSignature", None)
    calling, answering = extended(turns, first, {"status": "delayed"})[1:]
    bare = Turn(calling.key, calling.kind, dumps(content))
    with pytest.raises(BadRequest, match="thought_signature"):
        await ask(gateway, [*turns, bare, answering])


async def test_a_text_answer_brings_its_signature(gateway: OpenAIGateway) -> None:
    reply = await ask(gateway, [user_task("1", "Hello")])
    assert reply.outcome is Outcome.COMPLETE and signatures_of(reply.wire or b"")
    assert reply.usage.prompt and reply.usage.total >= reply.usage.prompt + reply.usage.output
    assert reply.model_version == MODEL


async def test_errors_are_the_same_as_at_the_native_endpoint(gateway: OpenAIGateway) -> None:
    with pytest.raises(QuotaExceeded):
        await ask(gateway, [user_task("1", "/error 429")])
