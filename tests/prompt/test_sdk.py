"""What the real google-genai client makes of our list is what our bytes say."""

import base64
from typing import Any

import httpx2
import orjson
import pytest
from google import genai
from google.genai import types

from sessions_app.prompt.layers import Layers, StaticSources
from sessions_app.prompt.panels import Panel
from sessions_app.prompt.payload import GenerationConfig, Payload, assemble
from sessions_app.prompt.turns import compressed_history, user_task
from tests.prompt.examples import NOW, SIGNATURE, TOOL_LOOP, answer, calling, layers, text

MODEL = "gemini-3-flash-preview"
CONFIG = GenerationConfig(temperature=0.5, thinking_level="low", max_output_tokens=500)
WEATHER = {
    "name": "weather",
    "description": "Weather of a city",
    "parametersJsonSchema": {"type": "object", "properties": {"city_name": {"type": "string"}}},
}
STREAMED = calling("2", text("hm", thought=True), text("Hi 👋\x00"), text("", thoughtSignature=SIGNATURE))
DECLARED: tuple[dict[str, Any], ...] = (WEATHER,)

CASES = {
    "first": layers(user_task("1", "Hi"), declarations=DECLARED),
    "chat": layers(
        user_task("1", "Hi"), STREAMED, user_task("3", "More"), panels=(Panel("todos", "", ["é"], NOW),)
    ),
    "tool loop": layers(*TOOL_LOOP, declarations=DECLARED),
    "summary": layers(
        compressed_history("0", "Old."), answer("1"), user_task("2", "On"), static=StaticSources("p")
    ),
}


async def captured(payload: Payload, config: types.GenerateContentConfig) -> dict[str, Any]:
    bodies: list[bytes] = []

    def respond(request: httpx2.Request) -> httpx2.Response:
        bodies.append(request.content)
        return httpx2.Response(200, json={"candidates": []})

    transport = {"transport": httpx2.MockTransport(respond)}
    options = types.HttpOptions(api_version="v1beta", async_client_args=transport)
    client = genai.Client(api_key="none", http_options=options)
    contents: Any = payload.contents()
    try:
        await client.aio.models.generate_content(model=payload.model, contents=contents, config=config)
    finally:
        await client.aio.aclose()
    parsed: dict[str, Any] = orjson.loads(bodies[0])
    return parsed


def config_for(built: Layers, name: str) -> types.GenerateContentConfig:
    declaration = types.FunctionDeclaration.model_validate(WEATHER)
    tools: Any = (
        [types.Tool(function_declarations=[declaration])] if built.declarations and not name else None
    )
    return types.GenerateContentConfig(
        temperature=CONFIG.temperature,
        max_output_tokens=CONFIG.max_output_tokens,
        thinking_config=types.ThinkingConfig(include_thoughts=True, thinking_level=types.ThinkingLevel.LOW),
        tools=tools,
        cached_content=name or None,
    )


@pytest.mark.parametrize("name", ["", "cachedContents/abc"], ids=["miss", "hit"])
@pytest.mark.parametrize("case", CASES)
async def test_our_body_is_what_the_sdk_sends_for_our_list(case: str, name: str) -> None:
    built = CASES[case]
    payload = assemble(built, CONFIG, model=MODEL, cached_content=name)
    theirs = await captured(payload, config_for(built, name))
    assert normal(theirs) == normal(orjson.loads(payload.body))


@pytest.mark.parametrize("case", CASES)
async def test_the_body_itself_travels_as_it_is(case: str) -> None:
    payload = assemble(CASES[case], CONFIG, model=MODEL)
    options = types.HttpOptions(extra_body=orjson.loads(payload.body))
    assert await captured(payload, types.GenerateContentConfig(http_options=options)) == orjson.loads(
        payload.body
    )


def normal(value: Any, key: str = "") -> Any:
    """Camel case keys and decoded signatures: the SDK mixes spellings (gemini-wire §0.5, §1.1)."""
    if isinstance(value, dict):
        return {camel(name): normal(item, camel(name)) for name, item in value.items()}
    if isinstance(value, list):
        return [normal(item) for item in value]
    return (
        base64.urlsafe_b64decode(value.translate(str.maketrans("+/", "-_")))
        if key == "thoughtSignature"
        else value
    )


def camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(word.capitalize() for word in others)
