import orjson
from hypothesis import given

from sessions_app.prompt.calls import CallResponse, FunctionCall
from sessions_app.prompt.parts import parts_of, text_of
from sessions_app.prompt.turns import compressed_history, restore, tool_response, user_task
from tests.prompt.examples import SIGNATURE, content, text, texts


def test_a_user_task_is_one_text_part() -> None:
    assert user_task("1", "Grüße").wire == '{"role":"user","parts":[{"text":"Grüße"}]}'.encode()


@given(texts)
def test_any_text_becomes_a_turn_that_reads_back(value: str) -> None:
    orjson.loads(user_task("1", value).wire)
    assert "\ud83d" not in text_of(user_task("1", value).wire)


def test_answers_stand_in_one_content_in_call_order_with_their_ids() -> None:
    late, early = FunctionCall(1, "", "b", {}), FunctionCall(0, "k3", "a", {})
    turn = tool_response("2", [CallResponse(late, {"n": 2}), CallResponse(early, {"n": 1})])
    assert [view.response for view in parts_of(turn.wire)] == [
        {"id": "k3", "name": "a", "response": {"n": 1}},
        {"name": "b", "response": {"n": 2}},
    ]


def test_a_summary_says_that_it_is_one() -> None:
    turn = compressed_history("1", "They met.")
    assert text_of(turn.wire).startswith("Summary of a part of this conversation")
    assert turn.kind.role == "user"


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
