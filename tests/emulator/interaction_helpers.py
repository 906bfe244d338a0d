"""Requests of the Interactions API, whose answers must fit the types of the google-genai client."""

from typing import Any

import orjson
from google.genai import interactions as forms
from pydantic import BaseModel, TypeAdapter

from sessions_app.emulator import Emulator
from tests.emulator.helpers import FLASH, Wire, send

FLIGHT = "Check flight status for AA100 and book a taxi 2 hours before if delayed"
WEATHER = "What is the weather in Paris and London?"
DONE = b"event: done\ndata: [DONE]\n\n"

_RECORDED = {"object"}
"""In every recorded interaction, though the client has it in events only."""

_EVENT: TypeAdapter[Any] = TypeAdapter(forms.InteractionSSEEvent)


def function(name: str, *arguments: str) -> Wire:
    properties = {argument: {"type": "string"} for argument in arguments}
    return {"type": "function", "name": name, "parameters": {"type": "object", "properties": properties}}


TOOLS = [
    function("check_flight", "flight"),
    function("book_taxi", "time"),
    function("get_current_temperature", "location"),
]


def ask(emulator: Emulator, path: str = "interactions", *, key: str = "emulator", **body: Any) -> Wire:
    """One request with a body and its answer, whatever the status. The model may be given."""
    return answer_of(send(emulator, "POST", path, {"model": FLASH} | body, key=key)[1])


def create(emulator: Emulator, asked: Any, *, key: str = "emulator", **body: Any) -> Wire:
    """A created interaction, which the client's types know whole."""
    answer = ask(emulator, key=key, input=asked, **body)
    assert "error" not in answer, answer
    known(forms.Interaction.model_validate(answer))
    return answer


def stream(emulator: Emulator, asked: Any, **body: Any) -> list[Wire]:
    """The events of a created interaction."""
    data = {"model": FLASH, "input": asked, "stream": True} | body
    return events(send(emulator, "POST", "interactions", data)[1])


def found(emulator: Emulator, name: str, *, key: str = "emulator", **query: Any) -> Wire:
    return answer_of(send(emulator, "GET", f"interactions/{name}", key=key, **query)[1])


def replay(emulator: Emulator, name: str, **query: Any) -> list[Wire]:
    return events(send(emulator, "GET", f"interactions/{name}", stream="true", **query)[1])


def refusal(emulator: Emulator, **body: Any) -> tuple[int, str]:
    """Status and code of a request that is refused."""
    status, raw = send(emulator, "POST", "interactions", {"model": FLASH, "input": "hi"} | body)
    error = answer_of(raw)["error"]
    assert set(error) == {"message", "code"} and error["message"]
    return status, error["code"]


def answer_of(raw: bytes) -> Wire:
    answer: Wire = orjson.loads(raw)
    return answer


def events(raw: bytes) -> list[Wire]:
    """Each is named on its first line as in its data, and is one that the client's types know."""
    assert raw.endswith(DONE)
    read = []
    for frame in raw.removesuffix(DONE).split(b"\n\n")[:-1]:
        name, data = frame.removeprefix(b"event: ").split(b"\ndata: ")
        event = answer_of(data)
        assert event["event_type"] == name.decode()
        known(_EVENT.validate_python(event))
        read.append(event)
    return read


def known(value: Any) -> None:
    """Fails for a variant or a field that the client's types do not have."""
    assert not getattr(value, "is_unknown", False), value
    if isinstance(value, BaseModel):
        extra = set(value.model_extra or ())
        assert not extra - (_RECORDED if isinstance(value, forms.Interaction) else set()), extra
        for name in type(value).model_fields:
            known(value.__dict__.get(name))
    elif isinstance(value, list):
        for inner in value:
            known(inner)


def kinds(events: list[Wire]) -> list[str]:
    return [event["event_type"] for event in events]


def types(interaction: Wire) -> list[str]:
    return [step["type"] for step in interaction.get("steps", [])]


def text_of(interaction: Wire) -> str:
    return "".join(
        content["text"]
        for step in interaction["steps"]
        if step["type"] == "model_output"
        for content in step["content"]
    )


def calls(interaction: Wire) -> list[Wire]:
    return [step for step in interaction["steps"] if step["type"] == "function_call"]


def result(call: Wire, value: Any, **more: Any) -> Wire:
    return {
        "type": "function_result",
        "call_id": call["id"],
        "name": call["name"],
        "result": value,
    } | more
