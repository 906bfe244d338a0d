"""Function calls through google-genai for Python. Argument: the emulator's URL."""

import asyncio
from collections.abc import Callable
from typing import Any

from google.genai import types

from tests.clients.programs.google_genai_client import (
    calls_of,
    client,
    content_of,
    failure_of,
    generate,
    parts_of,
    said,
)
from tests.clients.programs.steps import FLASH, FLIGHT, WEATHER, report


def check_flight(flight: str) -> dict[str, str]:
    """Status of a flight."""
    return {"status": "delayed", "departure_time": "12 PM"}


def book_taxi(time: str) -> dict[str, str]:
    """Book a taxi."""
    return {"booking_status": "success"}


def get_current_temperature(location: str) -> dict[str, str]:
    """Temperature of a place."""
    return {"temp": {"Paris": "15C", "London": "12C"}[location]}


FUNCTIONS: list[Any] = [check_flight, book_taxi, get_current_temperature]
ANSWERS: dict[str, Callable[..., dict[str, str]]] = {function.__name__: function for function in FUNCTIONS}
MANUAL = types.GenerateContentConfig(
    tools=FUNCTIONS, automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True)
)


def signed(content: types.Content) -> list[bool]:
    """For each call whether it carries a thought signature."""
    return [bool(part.thought_signature) for part in parts_of(content) if part.function_call]


def answered(content: types.Content) -> types.Content:
    """The responses to all calls of a content."""
    responses = [
        types.FunctionResponse(
            id=call.id, name=call.name, response=ANSWERS[str(call.name)](**(call.args or {}))
        )
        for call in calls_of(content)
    ]
    return types.Content(role="user", parts=[types.Part(function_response=each) for each in responses])


def converse(text: str, ask: Callable[[list[types.Content]], types.Content]) -> dict[str, Any]:
    """Plays rounds of calls until a content has none; signatures go back as they came."""
    contents, rounds = [said(text)], []
    while calls_of(content := ask(contents)):
        rounds.append(content)
        contents += [content, answered(content)]
    return {
        "calls": [[call.name, call.args] for each in rounds for call in calls_of(each)],
        "signed": [signed(each) for each in rounds],
        "text": "".join(part.text or "" for part in parts_of(content) if not part.thought),
    }


def unary(contents: list[types.Content]) -> types.Content:
    return content_of(generate(contents, MANUAL))


def streamed(contents: list[types.Content]) -> types.Content:
    """The parts of all chunks in one content, in order."""
    chunks = client.models.generate_content_stream(model=FLASH, contents=list(contents), config=MANUAL)
    parts = [part for chunk in chunks for each in chunk.candidates or [] for part in parts_of(each.content)]
    return types.Content(role="model", parts=parts)


def sequential() -> dict[str, Any]:
    return converse(FLIGHT, unary)


def parallel() -> dict[str, Any]:
    return converse(WEATHER, unary)


def streamed_sequential() -> dict[str, Any]:
    return converse(FLIGHT, streamed)


def streamed_parallel() -> dict[str, Any]:
    return converse(WEATHER, streamed)


def automatic(message: str) -> dict[str, Any]:
    """A chat whose functions the SDK calls by itself."""
    config = types.GenerateContentConfig(tools=FUNCTIONS)
    chat = client.chats.create(model=FLASH, config=config)
    response = chat.send_message(message)
    history = chat.get_history()
    return {
        "text": response.text,
        "calls": [call.name for content in history for call in calls_of(content)],
        "signed": [signed(content) for content in history if calls_of(content)],
        "roles": [content.role for content in history],
    }


def automatic_sequential() -> dict[str, Any]:
    return automatic(FLIGHT)


def automatic_parallel() -> dict[str, Any]:
    return automatic(WEATHER)


def automatic_stream() -> dict[str, Any]:
    """The same with a stream; see the known limits in the emulator's README."""
    config = types.GenerateContentConfig(tools=FUNCTIONS)
    chat = client.chats.create(model=FLASH, config=config)
    pieces: list[str] = []
    failure = failure_of(
        lambda: pieces.extend(chunk.text or "" for chunk in chat.send_message_stream(WEATHER))
    )
    return {"text": "".join(pieces), **failure}


def signatures() -> dict[str, Any]:
    """What happens to a call whose signature is altered, missing, or the documented dummy."""
    asked, first = said(FLIGHT), unary([said(FLIGHT)])

    def refusal(signature: bytes | None) -> dict[str, Any]:
        part = parts_of(first)[0].model_copy(update={"thought_signature": signature})
        content = types.Content(role="model", parts=[part])
        return failure_of(lambda: unary([asked, content, answered(first)]))

    true = parts_of(first)[0].thought_signature or b""
    middle = len(true) // 2
    altered = true[:middle] + bytes([true[middle] ^ 1]) + true[middle + 1 :]
    return {
        "true": refusal(true),
        "altered": refusal(altered),
        "missing": refusal(None),
        "dummy": refusal(b"skip_thought_signature_validator"),
    }


STEPS = (
    sequential, parallel, streamed_sequential, streamed_parallel, automatic_sequential, automatic_parallel,
    automatic_stream, signatures,
)  # fmt: skip

if __name__ == "__main__":
    asyncio.run(report(*STEPS))
