"""The emulator beside real Gemini traffic, rule by rule. Whatever the folder holds: no name, no count."""

from collections import defaultdict
from dataclasses import replace
from typing import Any

import pytest

from sessions_app.conform.recordings.derivation import expected
from sessions_app.conform.recordings.judging import AT_LEAST
from sessions_app.conform.recordings.leave_one_out import leave_one_out, overall_rate
from sessions_app.conform.recordings.observations import observe
from sessions_app.conform.recordings.playback import script_of
from sessions_app.conform.recordings.recorded import RecordedExchange, Recording
from sessions_app.conform.recordings.rule_verdicts import (
    DIFFERS,
    FRAMING,
    SAME,
    RecordingComparison,
    compare_all,
)
from sessions_app.conform.recordings.rules import RULES, parts_of
from sessions_app.emulator import Emulator
from sessions_app.emulator.answer_form import FORMS, AnswerForm, FormTable, Signable
from sessions_app.emulator.scripted_reply import ScriptedReply
from tests.emulator.helpers import Wire, declare, stream, user


@pytest.mark.parametrize("rule", [*RULES, FRAMING])
def test_the_emulator_answers_as_recorded(comparison: RecordingComparison, rule: str) -> None:
    found = [verdict for verdict in comparison.verdicts if verdict.rule == rule]
    assert [verdict for verdict in found if verdict.outcome == DIFFERS] == []


def test_something_was_compared(comparison: RecordingComparison) -> None:
    assert comparison.played and comparison.rate == 100
    assert {verdict.rule for verdict in comparison.verdicts if verdict.outcome == SAME} >= set(RULES) - {
        "turn tokens"
    }


@pytest.mark.parametrize(
    "broken", ["closes_empty", "splits_calls", "counts_thoughts_at_once", "restores_thoughts"]
)
def test_a_table_with_one_wrong_choice_is_noticed(traffic: list[Recording], broken: str) -> None:
    asked = {one.question for one in observe(traffic)}
    if broken not in asked:
        pytest.skip(f"NOTICE: no recording says anything of {broken}")
    wrong = {name: _changed(form, broken) for name, form in FORMS.items()}
    assert compare_all(traffic, FormTable(wrong)).rate < 100


@pytest.mark.parametrize("kind", Signable)
def test_a_table_with_one_wrong_signature_is_noticed(traffic: list[Recording], kind: Signable) -> None:
    if kind not in {one.question for one in observe(traffic)}:
        pytest.skip(f"NOTICE: no recording is {kind}")
    wrong = {name: replace(form, signed=form.signed ^ {kind}) for name, form in FORMS.items()}
    assert compare_all(traffic, FormTable(wrong)).rate < 100


def test_the_table_of_forms_is_what_most_recordings_say(traffic: list[Recording]) -> None:
    """Each choice of the code, for each model of which a recording answers the question."""
    agrees: dict[tuple[str, str], list[bool]] = defaultdict(list)
    for one in observe(traffic):
        if (says := expected(one.question, one.version, one.day)) is not None:
            agrees[one.question, one.version].append(says == one.value)
    assert [place for place, found in agrees.items() if 2 * sum(found) <= len(found)] == []


def test_the_rules_hold_for_a_source_that_nobody_has_read(traffic: list[Recording]) -> None:
    found = leave_one_out(traffic)
    assert len(found) > 1
    assert overall_rate(found) >= AT_LEAST


def test_partial_arguments_look_as_recorded(traffic: list[Recording]) -> None:
    """They were recorded on Vertex: the calls are compared, not the envelope."""
    found = [one for each in traffic for one in each.exchanges if isinstance(one, RecordedExchange)]
    whole = [one for one in found if one.streams and _ends_its_calls(one.response_chunks)]
    if not whole:
        pytest.skip("NOTICE: no recording streams the arguments of calls")
    for exchange in whole:
        script = script_of([_with_whole_calls(exchange.response_chunks)])
        body: Wire = {
            "contents": [user("recorded")],
            "tools": declare(**{ask.name: [] for ask in script.calls}),
            "toolConfig": {"functionCallingConfig": {"streamFunctionCallArguments": True}},
        }
        ours = stream(_playing(script), body)
        assert _pieces(ours) == _pieces(exchange.response_chunks)


def _changed(form: AnswerForm, choice: str) -> AnswerForm:
    change: dict[str, Any] = {choice: not getattr(form, choice)}
    return replace(form, **change)


def _playing(script: ScriptedReply) -> Emulator:
    return Emulator(delay=0, play=lambda _: script)


def _calls(chunks: list[Wire]) -> list[Wire]:
    return [part["functionCall"] for chunk in chunks for part in parts_of(chunk) if "functionCall" in part]


def _ends_its_calls(chunks: list[Wire]) -> bool:
    """Whether arguments come in pieces, strings at the top only, and each call is ended."""
    calls = _calls(chunks)
    pieces = [value for call in calls for value in call.get("partialArgs", ())]
    is_flat = all(set(value) <= {"jsonPath", "stringValue", "willContinue"} for value in pieces)
    is_top = all(value["jsonPath"].count(".") == 1 and "[" not in value["jsonPath"] for value in pieces)
    opened = sum(bool(call.get("name") and call.get("willContinue")) for call in calls)
    return bool(pieces) and is_flat and is_top and calls.count({}) == opened


def _pieces(chunks: list[Wire]) -> list[object]:
    """The functionCall pieces in order, without ids, and which of them are signed."""
    parts = [part for chunk in chunks for part in parts_of(chunk) if "functionCall" in part]
    return [(_without_id(part["functionCall"]), "thoughtSignature" in part) for part in parts]


def _without_id(call: Wire) -> Wire:
    return {key: value for key, value in call.items() if key != "id"}


def _with_whole_calls(chunks: list[Wire]) -> Wire:
    """One chunk with the calls put together again; the arguments here are all strings at the top."""
    calls: list[Wire] = []
    for call in _calls(chunks):
        if "name" in call:
            calls.append({"name": call["name"], "args": {}})
        for value in call.get("partialArgs", ()):
            key = value["jsonPath"].removeprefix("$.")
            calls[-1]["args"][key] = calls[-1]["args"].get(key, "") + value["stringValue"]
    return {"candidates": [{"content": {"parts": [{"functionCall": call} for call in calls]}}]}
