from dataclasses import replace
from operator import is_

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.prompt.history import verify_structure
from sessions_app.prompt.parts import raw_parts
from sessions_app.prompt.signatures import (
    DUMMIES,
    DUMMY,
    check_signatures,
    current_turn_start,
    normalised,
    prepare_signatures,
    signatures_of,
    signed_turns,
    unsigned,
    unsigned_steps,
)
from sessions_app.prompt.turns import IMPORTED, Turn, TurnKind, closing_turn, user_task
from tests.prompt.examples import ROUTE, SIGNATURE, TOOL_LOOP, answer, answers, call, calling, content, text

HI = user_task("1", "Hi")


def dressed(*turns: Turn, route: str = ROUTE, required: bool = True) -> list[list[dict[str, object]]]:
    return [raw_parts(turn.wire) for turn in prepare_signatures(turns, route=route, required=required)[0]]


def test_turns_of_the_same_route_keep_their_bytes() -> None:
    turns, notes = prepare_signatures(TOOL_LOOP, route=ROUTE, required=True)
    assert (turns, notes) == (TOOL_LOOP, ())


def test_a_lost_signature_becomes_the_dummy() -> None:
    turns, notes = prepare_signatures(
        (HI, calling("2", call("f")), answers("3", "f")), route=ROUTE, required=True
    )
    assert raw_parts(turns[1].wire) == [call("f", DUMMY)]
    assert [(note.turn, note.part, note.code) for note in notes] == [("2", 0, "signature_lost")]


def test_only_the_first_call_of_a_step_gets_the_dummy() -> None:
    assert dressed(HI, calling("2", text("So:"), call("a"), call("b")))[1] == [
        text("So:"),
        call("a", DUMMY),
        call("b"),
    ]


def test_every_step_of_the_current_turn_gets_one() -> None:
    steps = (calling("2", call("a")), answers("3", "a"), calling("4", call("b")), answers("5", "b"))
    parts = dressed(HI, *steps)
    assert (parts[1], parts[3]) == ([call("a", DUMMY)], [call("b", DUMMY)])


def test_a_foreign_signature_of_the_current_turn_becomes_the_dummy() -> None:
    turns, notes = prepare_signatures(TOOL_LOOP, route="other", required=True)
    assert raw_parts(turns[1].wire)[0]["thoughtSignature"] == DUMMY
    assert [note.code for note in notes] == ["signature_removed", "signature_foreign"]


def test_a_change_of_signatures_names_the_part_that_it_was_made_in() -> None:
    step = calling("2", text("So:"), call("f", SIGNATURE), call("g"), text("", thoughtSignature=SIGNATURE))
    _, notes = prepare_signatures((HI, step, answers("3", "f", "g")), route="other", required=True)
    assert [(note.part, note.code) for note in notes] == [
        (1, "signature_removed"),
        (3, "signature_part_dropped"),
        (1, "signature_foreign"),
    ]


def test_a_call_of_another_route_that_never_was_signed_did_not_lose_its_signature() -> None:
    _, notes = prepare_signatures(
        (HI, calling("2", call("f"), route="other"), answers("3", "f")), route=ROUTE, required=True
    )
    assert [note.code for note in notes] == ["signature_foreign"]


def test_past_turns_of_another_route_go_unsigned() -> None:
    parts = dressed(*TOOL_LOOP, answer("4", "Mild."), user_task("5", "And?"), route="other")
    assert parts[1] == [call("weather", city="Paris"), call("weather", city="London")]
    assert parts[3] == [text("Mild.")]


def test_past_turns_of_another_route_are_the_same_objects_in_the_next_request() -> None:
    question = user_task("9", "And then?")
    (turns, notes), (again, noted) = (
        prepare_signatures((*TOOL_LOOP, question), route="other", required=True) for _ in range(2)
    )
    assert notes and all(map(is_, notes, noted)) and all(map(is_, turns, again))


def test_a_signature_that_is_refused_later_is_not_taken_for_one_that_is_sent() -> None:
    question = user_task("9", "And then?")
    sent, notes = prepare_signatures((*TOOL_LOOP, question), route=ROUTE, required=True)
    refused = tuple(replace(turn, refused_in=3) for turn in TOOL_LOOP)
    bare, removed = prepare_signatures((*refused, question), route=ROUTE, required=True)
    other, foreign = prepare_signatures((*refused, question), route="other", required=True)
    assert not notes and signed_turns(sent) and not signed_turns(bare) and not signed_turns(other)
    assert {note.code for note in removed} == {"signature_refused"}
    assert {note.code for note in foreign} == {"signature_removed"}


def test_a_part_that_held_only_the_signature_goes_with_it() -> None:
    streamed = calling("2", text("Hello"), text("", thoughtSignature=SIGNATURE), route="other")
    turns, notes = prepare_signatures((HI, streamed, user_task("3", "More")), route=ROUTE, required=True)
    assert raw_parts(turns[1].wire) == [text("Hello")]
    assert [note.code for note in notes] == ["signature_part_dropped"]


def test_a_turn_that_held_only_the_signature_stays_one_that_can_be_sent() -> None:
    bare = Turn("2", TurnKind.MODEL_RESPONSE, content("model", text("", thoughtSignature=SIGNATURE)), "other")
    turns, notes = prepare_signatures((HI, bare, user_task("3", "More")), route=ROUTE, required=True)
    assert [note.code for note in notes] == ["signature_part_dropped"]
    verify_structure(turns, required=True)


def test_a_refused_signature_is_not_sent_to_its_own_route() -> None:
    past = refused(*TOOL_LOOP, answer("4", "Mild."))
    turns, notes = prepare_signatures((*past, user_task("5", "And?")), route=ROUTE, required=True)
    assert not any(signatures_of(turn.wire) for turn in turns)
    assert {(note.code, note.figures["exchange"]) for note in notes} == {("signature_refused", 7)}


def test_a_refused_call_of_the_current_turn_gets_the_dummy_whatever_the_model_requires() -> None:
    for required in (True, False):
        turns, notes = prepare_signatures(refused(*TOOL_LOOP), route=ROUTE, required=required)
        assert raw_parts(turns[1].wire)[0]["thoughtSignature"] == DUMMY
        assert [note.code for note in notes] == ["signature_refused", "refused_call"]


def test_a_signature_of_an_imported_history_is_of_no_route() -> None:
    current = (HI, calling("2", call("f", SIGNATURE), route=IMPORTED), answers("3", "f"))
    bare = (HI, calling("2", call("f"), route=IMPORTED), answers("3", "f"))
    past = (HI, answer("2", route=IMPORTED), user_task("3", "More"))
    codes = [
        [note.code for note in prepare_signatures(turns, route=ROUTE, required=True)[1]]
        for turns in (current, bare, past)
    ]
    assert codes == [["imported_signature", "imported_call"], ["imported_unsigned"], ["imported_signature"]]


def test_a_refused_call_without_a_signature_is_one_that_lost_it() -> None:
    bare = refused(HI, calling("2", call("f")), answers("3", "f"))
    _, notes = prepare_signatures(bare, route=ROUTE, required=False)
    assert [note.code for note in notes] == ["signature_lost"]


def test_on_another_route_a_refused_signature_is_foreign() -> None:
    _, notes = prepare_signatures(refused(*TOOL_LOOP), route="other", required=True)
    assert [note.code for note in notes] == ["signature_removed", "signature_foreign"]


def test_the_turns_that_a_refusal_is_about() -> None:
    turns = (*TOOL_LOOP, calling("4", call("g")), answers("5", "g"), calling("6", call("h", DUMMY)))
    assert (signed_turns(turns), unsigned_steps(turns)) == (("2",), ("4",))
    assert unsigned_steps((*turns, answers("7", "h"), user_task("8", "x"))) == ()


def refused(*turns: Turn) -> tuple[Turn, ...]:
    return tuple(replace(turn, refused_in=7) for turn in turns)


def test_a_model_that_does_not_demand_signatures_gets_no_dummy() -> None:
    assert dressed(HI, calling("2", call("f")), route="other", required=False)[1] == [call("f")]


def test_without_a_user_text_everything_is_the_current_turn() -> None:
    turns = TOOL_LOOP[1:]
    assert current_turn_start(turns) == 0
    assert dressed(*turns, route="other")[0][0]["thoughtSignature"] == DUMMY


def test_a_signature_has_a_place_a_size_and_a_hash() -> None:
    (found,) = signatures_of(content("model", text("a"), text("", thoughtSignature=SIGNATURE)))
    assert (found.part, found.size, found.dummy, len(found.sha256)) == (1, 256, False, 64)


@pytest.mark.parametrize(
    "value", [DUMMY, "skip_thought_signature_validator", "context_engineering_is_the_way_to_go"]
)
def test_a_dummy_is_known_in_every_spelling(value: str) -> None:
    assert signatures_of(content("model", call("f", value)))[0].dummy


def test_text_about_signatures_is_not_a_signature() -> None:
    assert signatures_of(content("model", text('{"thoughtSignature":"AAAA"}'))) == ()


def test_thoughts_without_a_signature_in_the_newest_model_turn_are_found() -> None:
    bare = Turn("2", answer("2").kind, content("model", text("Hm", thought=True), text("Hi")), ROUTE)
    assert [found.code for found in check_signatures((HI, bare, user_task("3", "x")), required=True)] == [
        "unsigned_answer"
    ]
    assert check_signatures((HI, answer("2"), user_task("3", "x")), required=True) == ()


def test_only_the_newest_turn_of_a_model_is_looked_at() -> None:
    thought, said = text("Hm", thought=True), text("Hi", thoughtSignature=SIGNATURE)
    whole, bare = (
        Turn(key, answer("2").kind, content("model", thought, one), ROUTE)
        for key, one in (("w", said), ("b", text("Hi")))
    )
    for turns, missing in (
        ((bare, HI, whole), []),
        ((whole, HI, bare), ["b"]),
        ((bare, HI, closing_turn("c")), ["b"]),
    ):
        assert [one.turn for one in check_signatures((*turns, user_task("3", "x")), required=True)] == missing


def test_an_answer_without_thoughts_needs_no_signature() -> None:
    """As recorded of Gemini 3: every unsigned answer had no thoughts, so there is nothing to take up."""
    bare = Turn("2", answer("2").kind, content("model", text("Hi")), ROUTE)
    assert check_signatures((HI, bare, user_task("3", "x")), required=True) == ()


def test_a_model_that_signs_calls_only_is_not_missed_a_signature_on_its_text() -> None:
    bare = Turn("2", answer("2").kind, content("model", text("Hm", thought=True), text("Hi")), ROUTE)
    assert check_signatures((HI, bare, user_task("3", "x")), required=False) == ()


def test_a_dummy_that_is_sent_is_found() -> None:
    turns, _ = prepare_signatures(TOOL_LOOP, route="other", required=True)
    assert [(found.turn, found.part, found.code) for found in check_signatures(turns, required=True)] == [
        ("2", 0, "dummy")
    ]


def test_a_models_own_signature_beside_the_dummys_name_is_none() -> None:
    told = answer("2", "Send skip_thought_signature_validator in its place.")
    assert check_signatures((HI, told, user_task("3", "Why?")), required=True) == ()


steps = st.lists(
    st.tuples(st.booleans(), st.integers(1, 3), st.sampled_from([ROUTE, "other"]), st.booleans()), max_size=5
)


def history(shape: list[tuple[bool, int, str, bool]]) -> tuple[Turn, ...]:
    turns = [user_task("start", "Hi")]
    for number, (signed, width, route, asks) in enumerate(shape):
        calls = [call("f", SIGNATURE if signed else ""), *[call("f")] * (width - 1)]
        turns += [calling(f"c{number}", *calls, route=route), answers(f"r{number}", *["f"] * width)]
        turns += [answer(f"a{number}", route=route), user_task(f"u{number}", "More")] if asks else []
    return tuple(turns)


@given(steps)
def test_dressed_turns_always_pass_the_check_and_carry_nothing_foreign(
    shape: list[tuple[bool, int, str, bool]],
) -> None:
    turns = history(shape)
    dressed_turns, notes = prepare_signatures(turns, route=ROUTE, required=True)
    verify_structure(dressed_turns, required=True)
    for turn in dressed_turns:
        assert turn.route == ROUTE or all(found.dummy for found in signatures_of(turn.wire))
    changed = {
        turn.key for turn, before in zip(dressed_turns, turns, strict=True) if turn.wire != before.wire
    }
    assert changed == {note.turn for note in notes}


@given(steps)
def test_dressing_twice_changes_nothing_more(shape: list[tuple[bool, int, str, bool]]) -> None:
    own = tuple(turn for turn in history(shape) if turn.route in ("", ROUTE))
    once, _ = prepare_signatures(own, route=ROUTE, required=True)
    assert prepare_signatures(once, route=ROUTE, required=True) == (once, ())


def test_the_rest_of_a_dressed_content_is_untouched() -> None:
    odd = orjson.dumps({"role": "model", "parts": [call("f", SIGNATURE, b=1, a=2) | {"novelty": 1}]})
    turns, _ = prepare_signatures(
        (HI, Turn("2", calling("2").kind, odd, "other")), route=ROUTE, required=False
    )
    assert turns[1].wire == odd.replace(f',"thoughtSignature":"{SIGNATURE}"'.encode(), b"")


@pytest.mark.parametrize(
    ("spelled", "standard"),
    [
        ("+/8=", "+/8="),
        ("-_8", "+/8="),
        ("-_8=", "+/8="),
        ("AAAA", "AAAA"),
        *((dummy.decode(), dummy.decode()) for dummy in DUMMIES),
        ("", None),
        ("<Signature A>", None),
        ("AAAAA", None),
        ("AB=C", None),
        ("\ud83d", None),
    ],
)
def test_a_signature_is_told_in_standard_base64(spelled: str, standard: str | None) -> None:
    assert normalised(spelled) == standard


def said(*parts: dict[str, object]) -> bytes:
    return orjson.dumps({"role": "model", "parts": parts})


def test_a_content_without_its_signatures() -> None:
    signed = said({"text": "Yes."}, {"text": "", "thoughtSignature": "AA=="})
    others = (
        said({"text": "Yes.", "thought_signature": "BB=="}),
        said({"text": "Yes."}),
        said({"text": "Yes."}, {"thoughtSignature": "AA=="}),
        said({"thought": True, "thoughtSignature": "AA=="}, {"text": "Yes."}),
    )
    assert {unsigned(one) for one in (signed, *others)} == {unsigned(signed)}
    assert unsigned(said({"text": "No."})) != unsigned(signed)
    assert unsigned(said({"text": "Yes."}, {"text": "A thought.", "thought": True})) != unsigned(signed)
    assert unsigned(b"text") is None is unsigned(b'{"role":"user"}')
