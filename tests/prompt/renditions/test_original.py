from dataclasses import replace

import pytest

from sessions_app.prompt import provider_tools
from sessions_app.prompt.clock import clock_text
from sessions_app.prompt.dialects import openai
from sessions_app.prompt.layers import Layer, StaticSources
from sessions_app.prompt.panels import Panel
from sessions_app.prompt.payload import GenerationConfig, assemble
from sessions_app.prompt.renditions import anthropic
from sessions_app.prompt.renditions.original import Original, OriginalEntry, inline_body, left_out
from sessions_app.prompt.wire import dumps, escaped
from tests.prompt.examples import HOSTILE, NOW, TOOL_LOOP, layers
from tests.prompt.renditions.examples import FLIGHT, original


def test_the_layers_of_a_payload_are_read_back() -> None:
    panels = [Panel("todos", "Todos", [{"title": "x"}], NOW), Panel("artifacts", "Artifacts", [], NOW)]
    built = layers(*TOOL_LOOP, panels=panels, declarations=[FLIGHT])
    found = Original.of(assemble(built, GenerationConfig(temperature=0.5, include_thoughts=False), model="m"))
    assert (found.static_text, found.dynamic_text) == (built.static_text, built.dynamic_text)
    assert found.panels == {"artifacts": [], "todos": [{"title": "x"}]}
    assert found.clock == clock_text(NOW, 1)
    assert found.turns == tuple(turn.wire for turn in TOOL_LOOP)
    assert found.tools == [{"functionDeclarations": [FLIGHT]}]
    assert found.config == {"temperature": 0.5}


def test_what_is_cached_is_read_as_if_it_had_been_sent() -> None:
    built = layers(static=StaticSources(purpose="Cached."), declarations=[FLIGHT])
    sent, cached = (
        Original.of(assemble(built, GenerationConfig(), model="m", cached_content=name))
        for name in ("", "cachedContents/a")
    )
    assert (cached.static_text, cached.tools) == (sent.static_text, sent.tools)
    assert cached.end["cachedContent"] == "cachedContents/a"


@pytest.mark.parametrize("text", HOSTILE)
def test_any_text_survives(text: str) -> None:
    built = layers(panels=[Panel("notes", "Notes", text, NOW)])
    found = Original.of(assemble(built, GenerationConfig(), model="m"))
    assert found.panels["notes"] == text.replace("\ud83d", "\ufffd")


def test_dynamic_text_that_is_no_object_is_one_panel() -> None:
    odd = Original("m", (OriginalEntry(Layer.DYNAMIC, "template:dynamic", escaped('Todos: "none"')),), b"]}")
    assert (odd.panels, odd.clock) == ({"dynamic": 'Todos: "none"'}, "")


def test_a_manifest_without_a_body_has_no_fields() -> None:
    assert original(tail="").config == {}


@pytest.mark.parametrize("declarations", [(), (FLIGHT,)], ids=["bare", "tools"])
@pytest.mark.parametrize(
    "config", [GenerationConfig(include_thoughts=False), GenerationConfig(temperature=1)]
)
@pytest.mark.parametrize("name", ["", "cachedContents/a"])
def test_as_if_inline_is_what_would_have_been_sent_on_a_miss(
    declarations: tuple[dict[str, object], ...], config: GenerationConfig, name: str
) -> None:
    built = layers(*TOOL_LOOP, declarations=declarations)
    sent = assemble(built, config, model="m", cached_content=name)
    assert inline_body(Original.of(sent)) == assemble(built, config, model="m").body


def test_a_request_with_tools_of_the_provider_is_the_same_without_its_cache() -> None:
    plain, functions, own = layers(*TOOL_LOOP), [FLIGHT], ["google_search"]
    built = replace(
        plain,
        declarations=provider_tools.declarations(functions, own),
        tool_config=provider_tools.tool_config(functions, own),
    )
    config = GenerationConfig(answer_schema={"type": "object"})
    named = Original.of(assemble(built, config, model="m", cached_content="cachedContents/a"))
    assert inline_body(named) == assemble(built, config, model="m").body
    assert left_out(named, ["thinkingConfig"]) == ("google_search", "schema")


@pytest.mark.parametrize(
    ("told", "names"),
    [
        (openai.TOLD_OPTIONS, ("presencePenalty", "topK")),
        (anthropic.TOLD_OPTIONS, ("presencePenalty", "temperature", "topK", "topP")),
    ],
)
def test_all_that_a_rendition_does_not_say_is_named(told: frozenset[str], names: tuple[str, ...]) -> None:
    config = {
        "responseMimeType": "application/json",
        "responseSchema": {},
        "topK": 3,
        "topP": 0.5,
        "temperature": 1,
        "maxOutputTokens": 9,
        "presencePenalty": 1,
    }
    beside = {"generationConfig": config, "toolConfig": {}, "safetySettings": [], "cachedContent": "a"}
    declared = dumps([{"functionDeclarations": [FLIGHT]}, {"googleMaps": {}}])
    tools = OriginalEntry(Layer.STATIC, "tools", declared)
    tail = b"]," + dumps(beside)[1:]
    found = left_out(Original("m", (tools,), tail), told)
    assert found == ("googleMaps", "schema", *names, "safetySettings", "toolConfig")
