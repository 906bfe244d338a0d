"""What the model may switch and let go: what is refused and why, and what is said of the cost."""

from dataclasses import replace
from typing import Any

import pytest

from sessions_app.errors import RowGone, ToolError
from sessions_app.models import HistoryDrop, Note, Session
from sessions_app.models.session_settings import SessionSettings
from sessions_app.panels import KINDS, TOOLBOX, kind_named
from sessions_app.panels.context_actions import DropHistory, SwitchPanel, lock_of
from sessions_app.panels.kinds.files import CloseFile, FileRow
from sessions_app.prompt.gauge import Gauge, GaugeItem
from sessions_app.tools import ToolContext
from tests.factories import make_history
from tests.panels.kinds.test_session_facts import put_away

GAUGE = Gauge(
    (
        GaugeItem("chunk:3", "static", 1),
        GaugeItem("chunk:4", "static", 20),
        GaugeItem("panel:scratchpad", "dynamic", 300),
        GaugeItem("panel:tree", "dynamic", 4_000),
        GaugeItem("turn:a", "trigger", 50_000),
    )
)


@pytest.fixture
def house(context: ToolContext) -> ToolContext:
    locks = dict.fromkeys((kind.key for kind in KINDS), "")
    off = frozenset({"statistics"})
    return replace(context, off=off, locks=locks, gauge=GAUGE)


def on(panel: str, on: bool = True) -> SwitchPanel:
    return SwitchPanel(panel=panel, on=on)


def test_what_a_panel_leaves_behind_is_told(house: ToolContext) -> None:
    answer = on("tree", on=False).answer(house)
    assert (answer["frees_tokens"], answer["resends_tokens"]) == (4_000, 50_000)


def test_a_panel_that_comes_costs_what_stands_behind_the_last(house: ToolContext) -> None:
    assert on("statistics").answer(house)["resends_tokens"] == 50_000


@pytest.mark.parametrize("action", [on("nothing"), on("tree"), on("statistics", on=False)])
def test_what_is_unknown_or_so_already_is_refused(house: ToolContext, action: SwitchPanel) -> None:
    with pytest.raises(ToolError):
        action.answer(house)


def test_a_locked_panel_is_refused_with_the_reason(house: ToolContext) -> None:
    with pytest.raises(ToolError, match="because"):
        on("statistics").answer(replace(house, locks={"statistics": "because"}))


@pytest.mark.parametrize(
    ("given", "locked"),
    [
        ({}, {"console", "git_log", "git_status"}),
        ({"model_panels": "all"}, set()),
        ({"model_panels": "none"}, {"console", "git_log", "git_status", "tree", "todos"}),
        ({"model_panels": "all", "panels": {"tree": False, "todos": True}}, {"tree", "todos"}),
    ],
)
def test_the_session_says_what_the_model_may_switch(given: dict[str, Any], locked: set[str]) -> None:
    options = SessionSettings.model_validate(given)
    asked = ("console", "git_log", "git_status", "tree", "todos")
    kinds = [kind for name in asked if (kind := kind_named(name)) is not None]
    assert {kind.key for kind in kinds if lock_of(kind, options)} == locked


@pytest.mark.django_db
def test_a_person_wins_over_the_model(session: Session) -> None:
    kind = kind_named("statistics")
    assert kind is not None and not kind.is_on(session.options)
    on("statistics").carry_out(session)
    assert kind.is_on(session.options)
    session.switch_panel("statistics", on=False)
    assert not kind.is_on(session.options)


@pytest.mark.django_db
def test_closing_keeps_the_note_and_tells_the_cost(session: Session, house: ToolContext) -> None:
    session.references.create(path="a.py")
    rows = {"file_references": [FileRow(path="a.py")]}
    closing = CloseFile(path="a.py", note="it adds")
    # The note changes the scratchpad, which stands before the tree.
    assert closing.answer(replace(house, rows=rows))["resends_tokens"] == 54_300
    closing.carry_out(session)
    assert not session.references.get().enabled
    assert [(note.title, note.text) for note in Note.objects.filter(session=session)] == [("a.py", "it adds")]


def test_a_note_that_nobody_reads_is_refused(house: ToolContext) -> None:
    off = replace(house, off=frozenset({"scratchpad"}))
    with pytest.raises(ToolError, match="scratchpad"):
        DropHistory(part=1, note="x").answer(off)


def test_a_part_costs_what_stands_behind_it(house: ToolContext) -> None:
    answer = DropHistory(part=1, note="we met").answer(house)
    assert (answer["frees_tokens"], answer["resends_tokens"]) == (1, 54_320)
    assert len(answer["drop"]) == 8


@pytest.mark.parametrize(("part", "note"), [(3, "x"), (1, " ")])
def test_no_part_goes_without_a_note_and_none_that_is_not_there(
    house: ToolContext, part: int, note: str
) -> None:
    with pytest.raises(ToolError):
        DropHistory(part=part, note=note).answer(house)


@pytest.mark.django_db
def test_a_part_waits_for_the_end_of_the_answer_once(session: Session) -> None:
    make_history(session, 2)
    put_away(session)
    DropHistory(part=1, note="we met").carry_out(session)
    assert HistoryDrop.objects.waiting().get().messages == 2
    with pytest.raises(ToolError):
        DropHistory(part=1, note="we met").carry_out(session)
    with pytest.raises(RowGone):
        DropHistory(part=2, note="we met").carry_out(session)


async def test_a_part_is_named_in_the_call(house: ToolContext) -> None:
    result = await TOOLBOX.run("drop_history", {"part": 2, "note": "we met"}, house, enabled=["drop_history"])
    assert result.response["dropped_part"] == 2 and len(result.effects) == 1


async def test_without_a_gauge_no_figure_is_told(house: ToolContext) -> None:
    call = {"panel": "tree", "on": False}
    result = await TOOLBOX.run("switch_panel", call, replace(house, gauge=None))
    assert result.response == {"panel": "tree", "on": False}
