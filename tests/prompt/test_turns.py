import orjson
import pytest
from hypothesis import given

from sessions_app.prompt.turns import (
    Answer,
    Call,
    compressed_history,
    decode_signature,
    parts_of,
    restore,
    text_of,
    tool_response,
    user_task,
)
from tests.prompt.examples import SIGNATURE, call, content, text, texts


def test_a_user_task_is_one_text_part() -> None:
    assert user_task("1", "Grüße").wire == '{"role":"user","parts":[{"text":"Grüße"}]}'.encode()


@given(texts)
def test_any_text_becomes_a_turn_that_reads_back(value: str) -> None:
    orjson.loads(user_task("1", value).wire)
    assert "\ud83d" not in text_of(user_task("1", value).wire)


def test_answers_stand_in_one_content_in_call_order_with_their_ids() -> None:
    late, early = Call(1, "", "b", {}), Call(0, "k3", "a", {})
    turn = tool_response("2", [Answer(late, {"n": 2}), Answer(early, {"n": 1})])
    assert [view.response for view in parts_of(turn.wire)] == [
        {"id": "k3", "name": "a", "response": {"n": 1}},
        {"name": "b", "response": {"n": 2}},
    ]


def test_a_summary_says_that_it_is_one() -> None:
    turn = compressed_history("1", "They met.")
    assert text_of(turn.wire).startswith("Summary of the earlier conversation")
    assert turn.kind.role == "user"


@pytest.mark.parametrize(
    ("part", "kind"),
    [
        (text("x"), "text"),
        (text("x", thought=True), "thought"),
        (call("f"), "function_call"),
        ({"functionResponse": {}}, "function_response"),
        ({"inlineData": {}}, "inline_data"),
        ({"inline_data": {}}, "inline_data"),
        ({"toolCall": {}, "thoughtSignature": "AAAA"}, "tool_call"),
        ({"novelty": 1}, "other"),
    ],
)
def test_every_part_has_a_kind(part: dict[str, object], kind: str) -> None:
    assert parts_of(content("model", part))[0].kind == kind


def test_the_text_of_a_content_leaves_thoughts_out() -> None:
    assert text_of(content("model", text("hm", thought=True), text("a"), text("b"))) == "ab"


@pytest.mark.parametrize("odd", [b"{}", b"[]", b'{"parts":null}', b'{"parts":["x",3]}'])
def test_a_content_without_parts_has_none(odd: bytes) -> None:
    assert parts_of(odd) == ()


def test_both_base64_alphabets_mean_the_same_bytes() -> None:
    url_safe = SIGNATURE.replace("+", "-").replace("/", "_").rstrip("=")
    assert decode_signature(SIGNATURE) == decode_signature(url_safe) == bytes(range(256))


def test_a_signature_that_is_no_base64_is_shown_as_it_is() -> None:
    assert decode_signature("no base64!") == b"no base64!"


def test_restoring_decodes_the_signature_once() -> None:
    parts = restore(content("model", text("", thoughtSignature=SIGNATURE))).parts or []
    assert [(part.text, part.thought_signature) for part in parts] == [("", bytes(range(256)))]


def test_restoring_drops_only_what_the_sdk_does_not_know() -> None:
    odd = {"text": "x", "novelty": 1}
    deep = {"functionCall": {"name": "f", "novelty": {"a": 1}}}
    restored = restore(content("model", odd, deep))
    assert restored.model_dump(exclude_none=True)["parts"] == [
        {"text": "x"},
        {"function_call": {"name": "f"}},
    ]
