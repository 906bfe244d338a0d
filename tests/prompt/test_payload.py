import base64
from dataclasses import replace
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.errors import PromptError
from sessions_app.prompt.layers import FrozenHistory, Layer, Layers, Segment, StaticSources
from sessions_app.prompt.panels import Panel
from sessions_app.prompt.payload import GenerationConfig, Payload, assemble, cacheable, static_tokens
from sessions_app.prompt.provider_tools import CONSENT
from sessions_app.prompt.turns import Turn, restore, user_task
from tests.prompt.examples import NOW, TOOL_LOOP, answer, layers, texts

MODEL = "gemini-3-flash-preview"
NAME = "cachedContents/abc"
TOOLS = ({"name": "weather", "description": "Weather of a city"},)
PANELS = (Panel("todos", "Todos", ["a"], NOW), Panel("artifacts", "Artifacts", [], NOW))
HISTORY = (FrozenHistory("1-9", 'They said "hi".'),)


def full(*turns: Turn) -> Layers:
    turns = turns or (user_task("1", "Hi"), answer("2"), user_task("3", "And?"))
    return layers(*turns, static=StaticSources(history=HISTORY), panels=PANELS, declarations=TOOLS)


def sent(built: Layers, name: str = "", config: GenerationConfig | None = None) -> Payload:
    return assemble(built, config or GenerationConfig(), model=MODEL, cached_content=name)


def body(payload: Payload) -> dict[str, Any]:
    parsed: dict[str, Any] = orjson.loads(payload.body)
    return parsed


def conversation(*values: str) -> tuple[Turn, ...]:
    turns = [
        answer(str(index), value) if index % 2 else user_task(str(index), value)
        for index, value in enumerate(values)
    ]
    return (*turns, user_task("last", "And?"))


conversations = st.lists(texts, max_size=5).map(lambda values: conversation(*values))


TINY = Layers(
    (Segment("a", 'S"'),), (Segment("b", "D"), Segment("c", "é")), (), user_task("1", "Hi"), b"[{}]"
)


def test_a_miss_reads_like_this() -> None:
    assert sent(TINY).body.decode() == (
        '{"tools":[{}],"contents":[{"role":"user","parts":[{"text":"S\\""},{"text":"Dé"}]},'
        '{"role":"user","parts":[{"text":"Hi"}]}],"generationConfig":{"thinkingConfig":{"includeThoughts":true}}}'
    )


def test_a_hit_reads_like_this() -> None:
    assert sent(TINY, "cachedContents/abc", GenerationConfig(include_thoughts=False)).body.decode() == (
        '{"contents":[{"role":"user","parts":[{"text":"Dé"}]},'
        '{"role":"user","parts":[{"text":"Hi"}]}],"cachedContent":"cachedContents/abc"}'
    )


def test_on_a_miss_static_and_dynamic_are_two_texts_of_one_user_content() -> None:
    built = full()
    assert body(sent(built))["contents"][0] == {
        "role": "user",
        "parts": [{"text": built.static_text}, {"text": built.dynamic_text}],
    }


def test_on_a_hit_only_the_dynamic_text_is_sent_beside_the_name() -> None:
    built = full()
    parsed = body(sent(built, NAME))
    assert parsed["contents"][0] == {"role": "user", "parts": [{"text": built.dynamic_text}]}
    assert parsed["cachedContent"] == NAME
    assert "tools" not in parsed


def test_turns_follow_as_they_are_stored() -> None:
    built = full(*TOOL_LOOP)
    assert body(sent(built))["contents"][1:] == [orjson.loads(turn.wire) for turn in TOOL_LOOP]
    assert sent(built).body.count(TOOL_LOOP[1].wire) == 1


def test_tools_are_an_item_of_the_static_layer() -> None:
    item = sent(full()).items[0]
    assert (item.layer, item.source, item.is_sent) == (Layer.STATIC, "tools", True)
    assert body(sent(full()))["tools"] == [{"functionDeclarations": list(TOOLS)}]


def test_without_tools_there_is_no_tools_key() -> None:
    assert "tools" not in body(sent(layers()))


@pytest.mark.parametrize("name", ["", NAME])
def test_the_body_is_the_sum_of_its_items(name: str) -> None:
    payload = sent(full(*TOOL_LOOP), name)
    pieces = [item.lead + item.wire for item in payload.items if item.is_sent]
    assert payload.body == b"".join(pieces) + payload.tail


@given(conversations, st.sampled_from(["", NAME]), st.sampled_from([(), TOOLS]))
def test_every_span_is_the_item_and_the_body_is_json(turns: tuple[Turn, ...], name: str, tools: Any) -> None:
    payload = sent(layers(*turns, panels=PANELS, declarations=tools), name)
    parsed = body(payload)
    for item in (item for item in payload.items if item.is_sent):
        assert payload.body[item.start : item.end] == item.wire
        if item.content is not None and item.part is None:
            assert parsed["contents"][item.content] == orjson.loads(item.wire)


@given(conversations)
def test_every_turn_is_sent_exactly_once(turns: tuple[Turn, ...]) -> None:
    payload = sent(layers(*turns, static=StaticSources(history=HISTORY)))
    sources = [item.source for item in payload.items]
    assert [source for source in sources if source.startswith("turn:")] == [
        f"turn:{turn.key}" for turn in turns
    ]
    assert sources.count("chunk:1-9") == 1
    assert len(body(payload)["contents"]) == 1 + len(turns)


def test_cached_items_are_listed_without_a_span() -> None:
    payload = sent(full(), NAME)
    cached = [item for item in payload.items if not item.is_sent]
    assert {item.layer for item in cached} == {Layer.STATIC}
    assert {item.source for item in cached} == {"tools", "template:static", "chunk:1-9"}
    assert all((item.end, item.content, item.part) == (None, None, None) for item in cached)


def test_an_item_has_the_same_hash_cached_or_not() -> None:
    hashes = [{item.source: item.sha256 for item in sent(full(), name).items} for name in ("", NAME)]
    assert hashes[0] == hashes[1]


def test_items_say_where_they_are_on_the_wire() -> None:
    places = {
        item.source: (item.layer.value, item.role, item.content, item.part) for item in sent(full()).items
    }
    assert places["tools"] == ("static", "user", None, None)
    assert places["chunk:1-9"] == ("static", "user", 0, 0)
    assert places["panel:todos"] == ("dynamic", "user", 0, 1)
    assert places["turn:2"] == ("buffered", "model", 2, None)
    assert places["turn:3"] == ("trigger", "user", 3, None)


def test_the_cache_holds_what_a_miss_sends_inline() -> None:
    built = full()
    inline = body(sent(built))
    held = orjson.loads(cacheable(built))
    assert held["contents"] == [{"role": "user", "parts": [inline["contents"][0]["parts"][0]]}]
    assert held["tools"] == inline["tools"]


def test_what_is_cached_and_what_is_sent_beside_it_are_the_whole_request() -> None:
    built, config = replace(full(), tool_config=CONSENT), GenerationConfig(temperature=1)
    inline, held = body(sent(built, config=config)), orjson.loads(cacheable(built))
    beside = body(sent(built, NAME, config))
    assert beside.pop("cachedContent") == NAME and beside.keys() & held.keys() == {"contents"}
    first = {"role": "user", "parts": held["contents"][0]["parts"] + beside["contents"][0]["parts"]}
    assert inline == held | beside | {"contents": [first, *beside["contents"][1:]]}
    assert inline["toolConfig"] == orjson.loads(CONSENT)


def test_tokens_are_counted_per_layer() -> None:
    payload = sent(full())
    assert payload.tokens() == sum(payload.tokens(layer) for layer in Layer)
    assert 0 <= payload.tokens(Layer.STATIC) - static_tokens(full()) <= len(payload.items)


def test_the_hash_is_that_of_the_body() -> None:
    assert sent(full()).sha256 == sent(full()).sha256 != sent(full(), NAME).sha256


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        (GenerationConfig(include_thoughts=False), None),
        (GenerationConfig(), {"thinkingConfig": {"includeThoughts": True}}),
        (GenerationConfig(temperature=0, include_thoughts=False), {"temperature": 0}),
        (
            GenerationConfig(answer_schema={"type": "object"}, include_thoughts=False),
            {"responseMimeType": "application/json", "responseJsonSchema": {"type": "object"}},
        ),
        (GenerationConfig(top_p=0.9, include_thoughts=False), {"topP": 0.9}),
        (
            GenerationConfig(max_output_tokens=9, thinking_level="low"),
            {"maxOutputTokens": 9, "thinkingConfig": {"includeThoughts": True, "thinkingLevel": "LOW"}},
        ),
        (GenerationConfig(None, "", 0, False), {"thinkingConfig": {"thinkingBudget": 0}}),
    ],
)
def test_only_what_is_set_is_sent(config: GenerationConfig, expected: Any) -> None:
    assert body(sent(full(), config=config)).get("generationConfig") == expected


def test_level_and_budget_together_are_refused() -> None:
    with pytest.raises(PromptError):
        GenerationConfig(thinking_level="low", thinking_budget=1).wire()


@given(st.binary(max_size=40), st.booleans())
def test_the_token_of_an_answer_goes_back_in_the_form_of_the_sdk(token: bytes, is_padded: bool) -> None:
    """Answers have the standard alphabet, with and without padding."""
    asked = sent(full())
    received = base64.b64encode(token).decode()
    payload = asked.continued(received if is_padded else received.rstrip("="))
    assert body(payload) == body(asked) | {"continuationToken": base64.urlsafe_b64encode(token).decode()}
    assert payload.body.endswith(payload.tail) and payload.items == asked.items
    assert payload.body.startswith(asked.body[: -len(asked.tail)])


def test_contents_are_the_list_of_the_seed() -> None:
    built = full(*TOOL_LOOP)
    turns = [restore(turn.wire) for turn in TOOL_LOOP]
    assert sent(built).contents() == [built.static_text, built.dynamic_text, *turns]
    assert sent(built, NAME).contents() == [built.dynamic_text, *turns]


@given(conversations)
def test_consecutive_requests_share_all_bytes_up_to_the_new_turns(turns: tuple[Turn, ...]) -> None:
    before = sent(layers(*turns))
    after = sent(layers(*turns, answer("new"), user_task("next", "More")))
    assert after.body.startswith(before.body[: -len(before.tail)])


def test_a_changed_panel_breaks_only_what_follows_it() -> None:
    changed = replace(PANELS[0], value=["a", "b"], changed=NOW.replace(hour=9))
    before, after = (
        sent(full()),
        sent(
            layers(
                *full().turns,
                static=StaticSources(history=HISTORY),
                panels=(*PANELS[1:], changed),
                declarations=TOOLS,
            )
        ),
    )
    artifacts = next(item for item in before.items if item.source == "panel:artifacts")
    assert before.body[: artifacts.end] == after.body[: artifacts.end]
