"""One test for each prompt defect of the original `pipe` (pipe.md §7, 1 to 9) that would have caught it."""

import orjson
import pytest

from sessions_app.errors import PromptError
from sessions_app.prompt.caching import fingerprint
from sessions_app.prompt.calls import calls_in
from sessions_app.prompt.history import verify_structure
from sessions_app.prompt.layers import FrozenHistory, Layers, NamedText, StaticSources, render_static
from sessions_app.prompt.panels import Panel
from sessions_app.prompt.payload import GenerationConfig, Payload, assemble, cacheable
from sessions_app.prompt.reply import fold
from sessions_app.prompt.turns import Turn, TurnKind, compressed_history, restore, user_task
from tests.prompt.examples import NOW, SIGNATURE, TOOL_LOOP, answer, answers, call, chunk, layers, text


def sent(built: Layers, name: str = "") -> Payload:
    return assemble(built, GenerationConfig(), model="gemini-3-flash-preview", cached_content=name)


def test_1_a_streamed_signature_survives_and_the_text_with_it() -> None:
    streamed = [chunk(text("Hel")), chunk(text("lo")), chunk(text("", thoughtSignature=SIGNATURE))]
    turn = Turn("2", TurnKind.MODEL_RESPONSE, fold(streamed).wire or b"")
    parts = restore(turn.wire).parts or []
    assert [(part.text, part.thought_signature) for part in parts] == [
        ("Hello", None),
        ("", bytes(range(256))),
    ]
    assert SIGNATURE.encode() in sent(layers(user_task("1", "Hi"), turn, user_task("3", "More"))).body


def test_2_a_user_turn_is_sent_once_and_the_trigger_is_not_empty() -> None:
    payload = sent(layers(user_task("1", "UNIQUE WORDS")))
    assert payload.body.count(b"UNIQUE WORDS") == 1


def test_2_after_a_tool_round_nothing_follows_the_responses() -> None:
    contents = orjson.loads(sent(layers(*TOOL_LOOP)).body)["contents"]
    assert all("functionResponse" in part for part in contents[-1]["parts"])
    assert str(contents).count("Weather in Paris") == 1


def test_2_a_compressed_summary_is_sent() -> None:
    payload = sent(layers(compressed_history("1", "They agreed on blue."), user_task("2", "Why?")))
    assert b"They agreed on blue." in payload.body


def test_2_a_boundary_between_call_and_response_is_refused() -> None:
    with pytest.raises(PromptError):
        verify_structure(layers(answers("3", "weather")).turns, required=True)


def test_3_both_layers_are_json_with_everything_off_and_with_a_quote_in_a_title() -> None:
    built = layers(panels=(Panel("todos", "Todos", [{"title": 'Say "hi"'}], NOW),), static=StaticSources())
    orjson.loads(built.static_text)
    assert orjson.loads(built.dynamic_text)["todos"] == [{"title": 'Say "hi"'}]


def test_4_non_ascii_and_html_characters_cost_what_they_are() -> None:
    words = '日本語 <it\'s> & "ok"'
    built = layers(panels=(Panel("todos", "Todos", "日本語 <it's> &", NOW),), static=StaticSources(words))
    assert "日本語 <it's> &" in built.static_text
    assert "日本語 <it's> &" in built.dynamic_text
    assert b"\\u" not in sent(built).body


def test_5_the_guide_names_no_key_that_is_absent() -> None:
    text_of_static = "".join(segment.text for segment in render_static(StaticSources()))
    # cached_history is named “where it stands”: it comes later, behind what is cached by then.
    absent = ("current_task", "conversation_history", "todos", "procedure", "roles", "tool_rules")
    assert not [key for key in absent if key in text_of_static.split('"main_instruction"')[0]]


def test_6_panels_of_objects_and_of_texts_are_both_sent() -> None:
    panels = (Panel("artifacts", "", [{"path": "a.md"}, "b.md"], NOW), Panel("notes", "", "free text", NOW))
    assert orjson.loads(layers(panels=panels).dynamic_text)["artifacts"] == [{"path": "a.md"}, "b.md"]


def test_7_the_static_text_has_one_role_and_shape_inline_and_cached() -> None:
    built = layers()
    inline, held = (
        orjson.loads(sent(built).body)["contents"][0],
        orjson.loads(cacheable(built))["contents"][0],
    )
    assert (inline["role"], inline["parts"][:1]) == (held["role"], held["parts"])
    assert b"systemInstruction" not in sent(built).body + sent(built, "cachedContents/a").body


def test_8_a_call_is_replayed_with_its_structure_and_id() -> None:
    part = call("weather", SIGNATURE, city="Paris", days=[1, 2])
    part["functionCall"]["id"] = "k3x9"
    wire = fold([chunk(part, finishReason="STOP")]).wire or b""
    assert orjson.loads(wire)["parts"] == [part]
    assert (calls_in(wire)[0].id, calls_in(wire)[0].args) == ("k3x9", {"city": "Paris", "days": [1, 2]})


@pytest.mark.parametrize(
    "changed",
    [
        StaticSources(purpose="Other."),
        StaticSources(purpose="Test.", roles=(NamedText("Editor", "Edits."),)),
        StaticSources(purpose="Test.", history=(FrozenHistory("1", "old"),)),
    ],
    ids=["purpose", "role", "history"],
)
def test_9_the_fingerprint_changes_with_anything_the_cache_covers(changed: StaticSources) -> None:
    prints = {
        fingerprint("route", "model", built.static_text, built.declarations)
        for built in (layers(), layers(static=changed), layers(declarations=({"name": "f"},)))
    }
    assert len(prints) == 3


def test_9_the_fingerprint_ignores_what_the_cache_does_not_cover() -> None:
    one, other = (
        layers(),
        layers(user_task("1", "a"), answer("2"), user_task("3", "b"), now=NOW.replace(hour=9)),
    )
    assert fingerprint("r", "m", one.static_text, b"") == fingerprint("r", "m", other.static_text, b"")
