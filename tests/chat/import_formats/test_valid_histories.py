"""Any valid history of calls and answers imports, and the emulator takes the next request of it."""

from typing import Any

import orjson
from hypothesis import given, settings
from hypothesis import strategies as st

from sessions_app.emulator import Emulator
from sessions_app.import_codes import ImportNote
from sessions_app.prompt.history import verify_structure, violations
from sessions_app.prompt.parts import call_of, raw_parts, response_of
from sessions_app.prompt.signatures import DUMMY, prepare_signatures, signatures_of
from sessions_app.prompt.turns import Turn, TurnKind, user_task
from tests.chat.import_formats.histories import (
    HISTORIES,
    Exchange,
    checked,
    codes,
    gemini_contents,
    openai_messages,
)
from tests.emulator.helpers import FLASH, generate

ROUTE = "here/gemini-3-flash"


def accepted(turns: list[Turn]) -> list[Turn]:
    """The turns as they are sent to a model that demands signatures, which has taken them."""
    assert violations(turns) == ()
    sent, _ = prepare_signatures(turns, route=ROUTE, required=True)
    verify_structure(sent, required=True)
    answer = generate(Emulator(delay=0), {"contents": [orjson.loads(turn.wire) for turn in sent]}, FLASH)
    assert "candidates" in answer, answer
    return list(sent)


def said(turns: list[Turn]) -> list[Any]:
    """Calls and results in order: (name, arguments or response)."""
    found = [
        one
        for turn in turns
        for part in raw_parts(turn.wire)
        for one in (call_of(part), response_of(part))
        if one
    ]
    return [(one["name"], one.get("args", one.get("response"))) for one in found]


def expected(history: list[Exchange]) -> list[Any]:
    return [
        pair
        for _, rounds, _ in history
        for calls in rounds
        for pair in (
            *((name, args) for name, args, _ in calls),
            *((name, result) for name, _, result in calls),
        )
    ]


@settings(max_examples=40, deadline=None)
@given(HISTORIES, st.booleans(), st.booleans(), st.booleans())
def test_contents_of_gemini_go_on(
    tmp_path_factory: Any, history: list[Exchange], is_signed: bool, are_apart: bool, is_open: bool
) -> None:
    contents = gemini_contents(history, is_signed=is_signed, are_apart=are_apart)
    contents = contents[:-1] if is_open and history[-1][1] else contents
    found, turns = checked({"contents": contents}, tmp_path_factory.getbasetemp())
    assert said(turns) == expected(history) and ImportNote.HISTORY_BROKEN not in codes(found)
    accepted([*turns, user_task("next", "And now?")] if turns[-1].kind.is_model else turns)


@settings(max_examples=40, deadline=None)
@given(HISTORIES, st.booleans(), st.booleans())
def test_messages_of_openai_go_on(
    tmp_path_factory: Any, history: list[Exchange], is_reversed: bool, is_open: bool
) -> None:
    messages = openai_messages(history, is_reversed=is_reversed)
    messages = messages[:-1] if is_open and history[-1][1] else messages
    found, turns = checked(messages, tmp_path_factory.getbasetemp())
    assert said(turns) == expected(history) and ImportNote.HISTORY_BROKEN not in codes(found)
    assert found.session.purpose == "Be brief."
    accepted([*turns, user_task("next", "And now?")] if turns[-1].kind.is_model else turns)


def test_signatures_of_an_unknown_route_give_way_to_the_dummy_in_the_current_turn(tmp_path: Any) -> None:
    history: list[Exchange] = [("Go", [[("check_flight", {}, {"a": 1}), ("book_taxi", {}, {})]], "Done")]
    contents = gemini_contents(history, is_signed=True, are_apart=False)[:-1]
    found, turns = checked(contents, tmp_path)
    assert codes(found)[ImportNote.SIGNATURES_FOREIGN] == 1
    sent = accepted(turns)
    calling = next(turn for turn in sent if turn.kind is TurnKind.FUNCTION_CALLING)
    assert [one.dummy for one in signatures_of(calling.wire)] == [True] and DUMMY in calling.wire.decode()


def test_a_hand_made_call_and_answer_may_stand_in_front_of_a_message(tmp_path: Any) -> None:
    contents = [
        {"role": "user", "parts": [{"text": "What is the weather?"}]},
        {"role": "model", "parts": [{"functionCall": {"name": "look_out", "args": {}}}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "look_out", "response": {"sky": "blue"}}}]},
    ]
    found, turns = checked(contents, tmp_path)
    assert codes(found) == {ImportNote.CALLS_UNSIGNED: 1}
    sent = accepted(turns)
    assert DUMMY in sent[1].wire.decode()
