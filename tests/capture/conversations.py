"""Conversations of made-up clients, as requests that grow."""

from collections.abc import Sequence
from typing import Any

from sessions_app.capture.traits import RequestTraits, traits_of
from sessions_app.prompt import wire
from sessions_app.prompt.parts import call_part, content, response_part, text_part

TOOLS = [{"functionDeclarations": [{"name": "weather"}]}]


def user(text: str) -> dict[str, Any]:
    return content("user", [text_part(text)])


def model(text: str) -> dict[str, Any]:
    return content("model", [text_part(text)])


def call(name: str, **arguments: Any) -> dict[str, Any]:
    return content("model", [call_part(name, arguments, call_id=f"id-{name}")])


def result(name: str, **values: Any) -> dict[str, Any]:
    return content("user", [response_part(name, values, call_id=f"id-{name}")])


def body_of(
    contents: Sequence[Any], *, system: str | None = "Be brief.", tools: Any = TOOLS, **others: Any
) -> bytes:
    instruction = None if system is None else content("user", [text_part(system)])
    fields = {"contents": list(contents), "systemInstruction": instruction, "tools": tools} | others
    return wire.dumps({key: value for key, value in fields.items() if value is not None})


def asked(
    *contents: Any, system: str = "Be brief.", tools: Any = TOOLS, scope: str = "client", name: str = ""
) -> RequestTraits:
    return traits(body_of(contents, system=system, tools=tools), scope=scope, name=name)


def asked_with(cache: str, *contents: Any, name: str = "") -> RequestTraits:
    """Of a request that names an explicit cache, which stands for the instruction and the tools."""
    body = wire.dumps({"contents": list(contents), "cachedContent": cache})
    return traits(body, scope="client", name=name)


def traits(body: bytes, *, scope: str, name: str) -> RequestTraits:
    found = traits_of(body, scope=scope, name=name)
    assert found is not None
    return found
