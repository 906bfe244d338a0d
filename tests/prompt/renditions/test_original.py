from dataclasses import replace

import pytest

from sessions_app.prompt import provider_tools
from sessions_app.prompt.clock import clock_text
from sessions_app.prompt.dialects import openai
from sessions_app.prompt.dialects.messages import messages_of
from sessions_app.prompt.layers import Layer, StaticSources
from sessions_app.prompt.panels import Panel
from sessions_app.prompt.payload import GenerationConfig, assemble
from sessions_app.prompt.renditions import anthropic
from sessions_app.prompt.renditions.original import Original, OriginalEntry, inline_body, left_out
from sessions_app.prompt.wire import dumps, escaped
from tests.prompt.examples import HOSTILE, NOW, SIGNATURE, TOOL_LOOP, call, content, layers, text
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


def test_a_request_without_a_dynamic_layer_has_no_panels() -> None:
    bare = Original("m", (), b"]}")
    assert (bare.panels, bare.clock, bare.dynamic_text, bare.tools) == ({}, "", "", [])


def test_tools_of_another_shape_than_gemini_takes_are_none() -> None:
    sent = [{"functionDeclarations": ["f", FLIGHT], "googleSearch": {}}, "odd", {"functionDeclarations": "f"}]
    odd = Original("m", (OriginalEntry(Layer.STATIC, "tools", dumps(sent)),), b"]}")
    declared = [{"functionDeclarations": [FLIGHT], "googleSearch": {}}, {"functionDeclarations": []}]
    assert odd.tools == declared
    assert Original("m", (OriginalEntry(Layer.STATIC, "tools", b'{"a":1}'),), b"]}").tools == [{"a": 1}]


@pytest.mark.parametrize("layer", [Layer.STATIC, Layer.DYNAMIC])
def test_inline_a_layer_that_was_not_sent_is_no_empty_text(layer: Layer) -> None:
    only = Original("m", (OriginalEntry(layer, "template", b"A text"),), b"]}")
    assert inline_body(only) == b'{"contents":[{"role":"user","parts":[{"text":"A text"}]}]}'


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
    found = left_out(named, ["thinkingConfig"], tells_signatures=True)
    assert found == ("google_search", "schema")


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
    found = left_out(Original("m", (tools,), tail), told, tells_signatures=False)
    assert found == ("googleMaps", "schema", *names, "safetySettings", "toolConfig")


def test_a_type_of_answers_without_a_schema_is_named_as_it_is() -> None:
    plain = Original("m", (), b'],"generationConfig":{"responseMimeType":"application/json"}}')
    assert left_out(plain, (), tells_signatures=False) == ("responseMimeType",)


SIGNED, HMM = {"thoughtSignature": SIGNATURE}, text("Hm", thought=True)
TURNS: dict[str, tuple[list[dict[str, object]], tuple[str, ...], tuple[str, ...]]] = {
    "nothing signed": ([text("Hi"), call("f")], (), ()),
    "an empty thought": ([text("", thought=True), text("Hi")], (), ()),
    "a thought": ([HMM, text("Hi")], ("thoughts",), ("thoughts",)),
    "a text and a call": ([text("Hi", **SIGNED), call("f", SIGNATURE)], ("signatures",), ()),
    "two texts": ([text("Hi", **SIGNED), text("", **SIGNED)], ("signatures",), ("signatures",)),
    "code": ([{"executableCode": {}, **SIGNED}], ("signatures",), ("signatures",)),
    "a signed thought": ([HMM | SIGNED], ("thoughts", "signatures"), ("thoughts", "signatures")),
}


@pytest.mark.parametrize("name", TURNS)
def test_thoughts_and_signatures_that_are_not_told_are_named(name: str) -> None:
    parts, without, chat = TURNS[name]
    entry = OriginalEntry(Layer.BUFFERED, "turn:1", content("model", *parts))
    found = [left_out(Original("m", (entry,), b"]}"), (), tells_signatures=one) for one in (False, True)]
    assert found == [without, chat]
    messages = openai.chat_messages(messages_of([entry.wire]))
    sent = dumps(messages).count(SIGNATURE.encode())
    assert ("signatures" in chat) is (sent < dumps(parts).count(SIGNATURE.encode()))
