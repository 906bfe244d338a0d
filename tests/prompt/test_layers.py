from dataclasses import replace
from datetime import timedelta
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.errors import PromptError
from sessions_app.prompt.clock import clock_text
from sessions_app.prompt.layers import (
    TEMPLATES,
    FrozenHistory,
    NamedText,
    Segment,
    StaticSources,
    build_layers,
    render_dynamic,
    render_static,
)
from sessions_app.prompt.panels import Panel
from sessions_app.prompt.provider_tools import CONSENT
from sessions_app.prompt.turns import Turn, TurnKind, user_task
from sessions_app.prompt.wire import well_formed
from tests.prompt.examples import HOSTILE, NOW, TOOL_LOOP, answer, answers, content, layers, text, texts

named = st.builds(NamedText, texts, texts)
histories = st.lists(texts, max_size=3).map(
    lambda found: tuple(FrozenHistory(f"k{index}", each) for index, each in enumerate(found))
)
sources = st.builds(
    StaticSources,
    purpose=texts,
    background=texts,
    roles=st.lists(named, max_size=2).map(tuple),
    procedure=st.none() | named,
    constraints=st.lists(named, max_size=2).map(tuple),
    examples=st.lists(named, max_size=2).map(tuple),
    language=texts,
    history=histories,
    tools=st.lists(texts, max_size=2).map(tuple),
)
values = st.recursive(texts | st.integers() | st.booleans(), lambda inner: st.lists(inner, max_size=3))
panels = st.lists(
    st.builds(Panel, texts.map(well_formed), texts, values, st.just(NOW)),
    max_size=4,
    unique_by=lambda panel: panel.key,
)


def joined(segments: tuple[Segment, ...]) -> str:
    return "".join(segment.text for segment in segments)


def static(**fields: Any) -> dict[str, Any]:
    found: dict[str, Any] = orjson.loads(joined(render_static(StaticSources(**fields))))
    return found


@given(sources)
def test_the_static_layer_is_json_for_any_input(given_sources: StaticSources) -> None:
    parsed = orjson.loads(joined(render_static(given_sources)))
    assert parsed["session_goal"]["background"] == well_formed(given_sources.background)
    assert parsed.get("cached_history", []) == [well_formed(chunk.text) for chunk in given_sources.history]


@given(sources)
def test_history_is_added_behind_all_that_stood_there(given_sources: StaticSources) -> None:
    without = joined(render_static(replace(given_sources, history=())))
    assert joined(render_static(given_sources)).startswith(without.removesuffix("}").rstrip("\n"))


@given(panels)
def test_the_dynamic_layer_is_json_for_any_input(given_panels: list[Panel]) -> None:
    parsed = orjson.loads(joined(render_dynamic(given_panels, NOW)))
    assert parsed.keys() == {panel.key for panel in given_panels} | {"current_datetime"}


@pytest.mark.parametrize("hostile", HOSTILE)
def test_a_hostile_value_comes_back_as_it_was(hostile: str) -> None:
    parsed = orjson.loads(joined(render_dynamic([Panel("todos", "", {hostile: hostile}, NOW)], NOW)))
    assert parsed["todos"] == {well_formed(hostile): well_formed(hostile)}


def test_the_keys_stand_in_the_order_of_the_design() -> None:
    named_text = NamedText("n", "b")
    history = (FrozenHistory("1", "old"),)
    texts = {"roles": (named_text,), "procedure": named_text, "examples": (named_text,)}
    assert list(static(history=history, tools=("f",), **texts)) == [
        "description",
        "main_instruction",
        "constraints",
        "session_goal",
        "procedure",
        "roles",
        "example_messages",
        "tool_rules",
        "cached_history",
    ]


def test_absent_sources_have_no_key_and_the_guide_does_not_name_them() -> None:
    parsed = static()
    assert list(parsed) == ["description", "main_instruction", "constraints", "session_goal"]
    assert all(
        key not in parsed["description"] for key in ("procedure", "roles", "example_messages", "tool_rules")
    )


def test_the_guide_names_every_key_that_is_there() -> None:
    named_text = NamedText("user", "b")
    history = (FrozenHistory("1", "x"),)
    parsed = static(procedure=named_text, tools=("f",), history=history, examples=(named_text,))
    assert all(key in parsed["description"] for key in parsed if key != "description")


def test_the_brief_is_true_of_every_format_in_which_it_is_told() -> None:
    everything = static(procedure=NamedText("n", "b"), tools=("f",), history=(FrozenHistory("1", "x"),))
    assert "JSON" not in str(everything)


def test_non_ascii_is_not_escaped() -> None:
    assert "Grüße 👋 <b>" in joined(render_static(StaticSources(background="Grüße 👋 <b>")))


@given(sources.filter(lambda found: bool(found.history)), texts)
def test_an_added_history_chunk_keeps_the_bytes_before_it(before: StaticSources, added: str) -> None:
    after = replace(before, history=(*before.history, FrozenHistory("new", added)))
    old, new = joined(render_static(before)), joined(render_static(after))
    assert new.startswith(old.rstrip("]}\n"))


def test_a_history_chunk_is_a_segment_of_its_own() -> None:
    history = (FrozenHistory("a", "one"), FrozenHistory("b", "two"))
    segments = render_static(StaticSources(history=history))
    assert [segment.source for segment in segments] == [
        "template:static",
        "chunk:a",
        "chunk:b",
        "template:static",
    ]


def test_an_unchanged_panel_keeps_its_segment() -> None:
    files = Panel("file_references", "Files", ["a.txt"], NOW)
    before = render_dynamic([files, Panel("todos", "Todos", [], NOW)], NOW)
    after = render_dynamic([files, Panel("todos", "Todos", ["x"], NOW + timedelta(hours=1))], NOW)
    assert before[1] == after[1]
    assert [segment.source for segment in after][1:4] == ["panel:file_references", "panel:todos", "clock"]


def test_the_clock_comes_last_with_its_offset() -> None:
    parsed = orjson.loads(joined(render_dynamic([Panel("todos", "", [], NOW)], NOW)))
    assert list(parsed.items())[-1] == ("current_datetime", clock_text(NOW, 1))


def test_a_time_without_zone_is_refused() -> None:
    with pytest.raises(PromptError):
        render_dynamic([], NOW.replace(tzinfo=None))


def test_a_user_task_is_the_trigger() -> None:
    built = layers(user_task("1", "Hi"), answer("2"), user_task("3", "And?"))
    assert ([turn.key for turn in built.buffered], built.trigger.key) == (["1", "2"], "3")


def test_tool_responses_are_the_trigger_and_nothing_follows() -> None:
    built = layers(*TOOL_LOOP)
    assert built.turns == TOOL_LOOP
    assert built.trigger.kind == TurnKind.TOOL_RESPONSE


def test_functions_beside_the_providers_tools_come_with_what_has_to_be_said_of_them() -> None:
    functions, turns = ({"name": "f"},), (user_task("1", "Hi"),)
    built = build_layers(StaticSources(), (), NOW, turns, functions, own_tools=("google_search",))
    assert orjson.loads(built.declarations) == [
        {"functionDeclarations": [{"name": "f"}]},
        {"googleSearch": {}},
    ]
    assert built.tool_config == CONSENT and not layers(*turns, declarations=functions).tool_config


def test_a_turn_without_parts_is_never_sent() -> None:
    empty = Turn("2", TurnKind.MODEL_RESPONSE, content("model"))
    assert [turn.key for turn in layers(user_task("1", "Hi"), empty, user_task("3", "Hm?")).turns] == [
        "1",
        "3",
    ]


@pytest.mark.parametrize(
    "turns",
    [
        [],
        [user_task("1", " \n")],
        [user_task("1", "Hi"), answer("2")],
        [user_task("1", "Hi"), answers("2")],
        [user_task("1", "Hi"), answer("1"), user_task("2", "Hi")],
        [Turn("1", TurnKind.COMPRESSED_HISTORY, content("user", text("x")))],
    ],
    ids=["nothing", "blank", "model last", "no responses", "twice", "summary last"],
)
def test_without_something_to_answer_there_are_no_layers(turns: list[Turn]) -> None:
    with pytest.raises(PromptError):
        build_layers(StaticSources(), (), NOW, turns, ())


def test_two_chunks_of_one_key_are_refused() -> None:
    with pytest.raises(PromptError):
        render_static(StaticSources(history=(FrozenHistory("1", "a"), FrozenHistory("1", "b"))))


FORGED = '\ufdd0"chunk:forged"\ufdd1stolen\ufdd2'


def sources_of(segments: tuple[Segment, ...]) -> list[str]:
    return [segment.source for segment in segments]


def test_a_value_cannot_forge_a_mark() -> None:
    segments = render_static(StaticSources(background=FORGED, history=(FrozenHistory("1", FORGED),)))
    assert sources_of(segments) == ["template:static", "chunk:1", "template:static"]


@given(texts)
def test_whatever_a_chunk_holds_it_is_one_segment(value: str) -> None:
    segments = render_static(StaticSources(history=(FrozenHistory("1", value),)))
    assert sources_of(segments) == ["template:static", "chunk:1", "template:static"]


@given(texts)
def test_no_mark_is_left_in_the_text(value: str) -> None:
    segments = render_static(StaticSources(purpose=value, history=(FrozenHistory(value or "k", value),)))
    assert not set("".join(segment.text for segment in segments)) & set("\ufdd0\ufdd1\ufdd2")


@pytest.mark.parametrize("name", ["gemini_static_prompt.j2", "gemini_dynamic_prompt.j2"])
def test_every_value_of_a_template_passes_the_json_filter(name: str) -> None:
    prints = [line for line in (TEMPLATES / name).read_text().splitlines() if line.startswith("{{")]
    assert prints
    assert all("| json" in line for line in prints)
