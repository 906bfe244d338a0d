"""Small contents, turns and sources that the tests of the prompt core share."""

import base64
from datetime import UTC, datetime
from typing import Any

import orjson
from hypothesis import strategies as st

from sessions_app.prompt.calls import CallResponse, FunctionCall
from sessions_app.prompt.layers import Layers, StaticSources, build_layers
from sessions_app.prompt.turns import Turn, TurnKind, tool_response, user_task
from sessions_app.prompt.wire import dumps

NOW = datetime(2026, 11, 21, 8, 0, tzinfo=UTC)
ROUTE = "route-a"

SIGNATURE = base64.b64encode(bytes(range(256))).decode()
"""Holds `+` and `/`, which a careless decoder corrupts."""

HOSTILE = (
    'a "quoted" \\ back\\slash',
    "line\nbreak\r\ttab\x00\x1f\u2028",
    "{{ braces }} {% raw %} {# note #} ${x}",
    '"}]},"injected":[{"',
    "emoji 👩‍👩‍👧 and \ufdd0mark\ufdd1s\ufdd2",
    "half \ud83d of an emoji",
    "",
)

texts = st.one_of(
    st.sampled_from(HOSTILE), st.text(st.characters(codec=None, exclude_categories=()), max_size=40)
)


def content(role: str, *parts: dict[str, Any]) -> bytes:
    return dumps({"role": role, "parts": parts})


def chunk(*parts: dict[str, Any], **candidate: Any) -> bytes:
    return orjson.dumps({"candidates": [{"content": {"role": "model", "parts": parts}, **candidate}]})


def text(value: str, **more: Any) -> dict[str, Any]:
    return {"text": value, **more}


def call(name: str, signature: str = "", **args: Any) -> dict[str, Any]:
    part: dict[str, Any] = {"functionCall": {"name": name, "args": args}}
    return {**part, "thoughtSignature": signature} if signature else part


def answer(key: str, value: str = "Hello.", signature: str = SIGNATURE, route: str = ROUTE) -> Turn:
    return Turn(
        key, TurnKind.MODEL_RESPONSE, content("model", text(value, thoughtSignature=signature)), route
    )


def calling(key: str, *parts: dict[str, Any], route: str = ROUTE) -> Turn:
    return Turn(key, TurnKind.FUNCTION_CALLING, content("model", *parts), route)


def answers(key: str, *names: str) -> Turn:
    calls = (FunctionCall(index, "", name, {}) for index, name in enumerate(names))
    return tool_response(key, [CallResponse(call, {"result": call.name}) for call in calls])


def layers(*turns: Turn, static: StaticSources | None = None, **more: Any) -> Layers:
    return build_layers(
        static or StaticSources(purpose="Test."),
        more.get("panels", ()),
        more.get("now", NOW),
        turns or (user_task("1", "Hi"),),
        more.get("declarations", ()),
    )


TOOL_LOOP = (
    user_task("1", "Weather in Paris and London?"),
    calling("2", call("weather", SIGNATURE, city="Paris"), call("weather", city="London")),
    answers("3", "weather", "weather"),
)
"""Case B with parallel calls (seed 2): FC1+sig, FC2, FR1, FR2."""
