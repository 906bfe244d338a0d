"""Which turn of its session a content of a captured request is."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from sessions_app.capture.contents import (
    Content,
    KnownContent,
    KnownHistory,
    contents_of,
    evidence_of,
    named_items,
    turns_of,
)
from sessions_app.capture.cutting import cut
from sessions_app.capture.traits import traits_of
from sessions_app.prompt import wire
from sessions_app.prompt.layers import Layer
from sessions_app.prompt.parts import content, text_part
from tests.capture.conversations import body_of, call, model, result, user

TEXTS = st.lists(st.text("abc", min_size=1, max_size=2), min_size=1, max_size=7)
GENERATED = text_part("<session_context>\nToday is Monday.")


def contents(listed: list[Any]) -> list[Content]:
    body = body_of(listed)
    traits = traits_of(body)
    assert traits
    return contents_of(cut(body), traits.contents)


def history(texts: list[str]) -> list[Any]:
    """Of a user and a model in turns; texts may stand there twice."""
    return [(user if at % 2 == 0 else model)(text) for at, text in enumerate(texts)]


def known(listed: list[Any], **fields: Any) -> KnownHistory:
    named = [KnownContent(f"k{at}", one.meaning, one.kind) for at, one in enumerate(contents(listed))]
    return KnownHistory(named, **fields)


@given(TEXTS, TEXTS)
def test_an_appended_history_keeps_its_names(before: list[str], more: list[str]) -> None:
    was, now = history(before), history(before + more)
    found = turns_of(contents(now), known(was))
    assert found == [f"k{at}" for at in range(len(was))] + [""] * len(more)


@given(TEXTS, TEXTS)
def test_a_name_is_given_once(before: list[str], now: list[str]) -> None:
    evidence = {mark: "k1" for text in before for mark in evidence_of(wire.dumps(model(text)))}
    keys = [key for key in turns_of(contents(history(now)), known(history(before), evidence=evidence)) if key]
    assert len(keys) == len(set(keys))


@given(st.integers(1, 4), st.data())
def test_an_edited_content_keeps_its_name_unless_it_is_the_trigger(size: int, data: st.DataObject) -> None:
    was = history([f"text {at}" for at in range(2 * size + 1)])
    at = data.draw(st.integers(0, len(was) - 1))
    now = [*was]
    now[at] = (user if at % 2 == 0 else model)("edited")
    wanted = [f"k{place}" for place in range(len(was))]
    if at == len(was) - 1:
        wanted[at] = ""
    assert turns_of(contents(now), known(was)) == wanted


@given(st.integers(2, 9), st.data())
def test_dropped_leading_contents_keep_the_names_of_the_rest(size: int, data: st.DataObject) -> None:
    was = history([f"text {at}" for at in range(size)])
    gone = data.draw(st.integers(1, size - 1))
    assert turns_of(contents(was[gone:]), known(was)) == [f"k{at}" for at in range(gone, size)]


def answered(returned: Any, evidence: dict[str, str], answer: str = "") -> list[str]:
    was = [user("How long?")]
    found = contents([*was, returned, user("And then?")])
    return turns_of(found, known(was, answer=answer, evidence=evidence))


def test_an_answer_is_recognised_by_its_signature() -> None:
    signed = content("model", [text_part("Shortened.") | {"thoughtSignature": "c2lnbmVk"}])
    marks = list(evidence_of(wire.dumps(signed)))
    assert answered(signed, {marks[0]: "by signature"}) == ["k0", "by signature", ""]


def test_an_answer_is_recognised_by_the_id_of_its_call() -> None:
    was = [user("How long?")]
    now = [*was, call("look", where="elsewhere"), result("look", degrees=1)]
    found = turns_of(contents(now), known(was, evidence={"call:id-look": "by call"}))
    assert found == ["k0", "by call", ""]


def test_an_answer_is_recognised_by_its_text_without_spaces_around() -> None:
    marks = dict.fromkeys(evidence_of(wire.dumps(model("Twenty minutes longer."))), "by text")
    assert answered(model(" Twenty minutes longer.\n"), marks) == ["k0", "by text", ""]


def test_the_answer_that_is_due_is_recognised_by_its_place() -> None:
    assert answered(model("Said otherwise."), {}, answer="due") == ["k0", "due", ""]


def test_a_signature_says_more_than_the_place_and_the_place_more_than_the_text() -> None:
    signed = content("model", [text_part("Twenty minutes longer.") | {"thoughtSignature": "c2lnbmVk"}])
    signature, text = evidence_of(wire.dumps(signed))
    both = {signature: "by signature", text: "by text"}
    assert answered(signed, both, answer="due")[1] == "by signature"
    assert answered(signed, {text: "by text"}, answer="due")[1] == "due"


def test_of_two_answers_with_one_text_only_one_is_the_known_one() -> None:
    said = model("Twenty minutes longer.")
    marks = dict.fromkeys(evidence_of(wire.dumps(said)), "by text")
    found = turns_of(
        contents([user("How long?"), said, user("Really?"), said, user("So?")]), KnownHistory(evidence=marks)
    )
    assert found == ["", "by text", "", "", ""]


def test_what_a_user_says_is_never_taken_for_an_answer() -> None:
    marks = dict.fromkeys(evidence_of(wire.dumps(user("Twenty minutes longer."))), "answer")
    assert answered(user("Twenty minutes longer."), marks, answer="answer") == ["k0", "", ""]


def test_generated_context_is_no_turn() -> None:
    listed = [content("user", [GENERATED]), user("How long?")]
    assert turns_of(contents(listed), KnownHistory()) == ["", ""]
    assert [bool(one.wire) for one in contents(listed)] == [False, True]
    items = named_items(cut(body_of(listed)), ["", "k1"])
    names = {item.source: item.layer for item in items if item.content is not None}
    assert names == {"generated_context:1": Layer.DYNAMIC, "turn:k1": Layer.TRIGGER}


def test_a_turn_has_what_a_person_said_beside_generated_context() -> None:
    (one,) = contents([content("user", [GENERATED, text_part("How long?")])])
    assert wire.loads(one.wire) == user("How long?")
