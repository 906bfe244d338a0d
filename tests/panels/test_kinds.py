"""Every kind of panel is complete: the test names what is missing (CONTRIBUTING.md, “A panel kind”)."""

from pathlib import Path
from typing import Any

import pytest
from django.template import TemplateDoesNotExist
from django.template.loader import get_template

from sessions_app.models import Note
from sessions_app.panels import KEYS, KINDS, TOOLBOX
from sessions_app.panels.base import Action, PanelKind
from sessions_app.panels.refresh import STATES
from sessions_app.panels.rows import PanelRow, RowSource
from sessions_app.prompt.panels import CLOCK_KEY
from sessions_app.wording.sources import source_title

FILES = ("file_references", "artifacts")
TESTS = Path(__file__).parent / "kinds"


def missing(kind: PanelKind[Any]) -> list[str]:
    """What a kind lacks, one sentence for each piece."""
    return [*_texts(kind), *_template(kind), *_transfer(kind), *_tests(kind), *_actions(kind)]


def _texts(kind: PanelKind[Any]) -> list[str]:
    named = {name: getattr(kind, name, "") for name in ("key", "position", "title", "description")}
    found = [f"`{name}` is empty" for name, value in named.items() if not value]
    if type(kind).value is PanelKind.value and kind.row is PanelRow:
        found.append("neither `value` nor `row` says what is sent of it")
    return found


def _template(kind: PanelKind[Any]) -> list[str]:
    try:
        get_template(kind.template_path)
    except TemplateDoesNotExist:
        return [f"there is no templates/{kind.template_path}"]
    return []


def _transfer(source: RowSource[Any]) -> list[str]:
    if source.model is None:
        return []
    if source.is_transferred is None or not source.transfer_reason:
        return ["`is_transferred` and `transfer_reason`: does a fork or an export carry its rows, and why?"]
    if not source.is_transferred:
        return []
    columns = {field.name for field in source.model._meta.concrete_fields if not field.primary_key}
    lost = columns - {"session"} - source.row.model_fields.keys()
    return [f"its rows are transferred, and `{source.row.__name__}` has no `{name}`" for name in sorted(lost)]


def _tests(kind: PanelKind[Any]) -> list[str]:
    name = f"test_{type(kind).__module__.rpartition('.')[2]}.py"
    return [] if (TESTS / name).exists() else [f"there is no tests/panels/kinds/{name}"]


def _actions(kind: PanelKind[Any]) -> list[str]:
    found = []
    for action in kind.actions:
        if action.carry_out is Action.carry_out:
            found.append(f"`{action.__name__}.carry_out` is not written")
        if action.tool_title and action.answer is Action.answer:
            found.append(f"`{action.__name__}` is a tool and has no `answer`")
        if action.tool_title and not action.__doc__:
            found.append(f"`{action.__name__}` is a tool and has no docstring for the model")
    if kind.tools and not kind.tool_group:
        found.append("`tool_group` is empty: under which heading do pages list its tools?")
    return found


@pytest.mark.parametrize("key", KEYS)
def test_nothing_is_missing(key: str) -> None:
    (kind,) = (kind for kind in KINDS if kind.key == key)
    assert missing(kind) == []


def test_the_states_of_panels_are_transferred_completely() -> None:
    assert _transfer(STATES) == []


def test_keys_and_actions_are_unique() -> None:
    actions = [(kind.key, action.action_name()) for kind in KINDS for action in kind.actions]
    assert len({kind.position for kind in KINDS}) == len(set(KEYS)) == len(KEYS) and len(set(actions)) == len(
        actions
    )
    assert not {CLOCK_KEY, "instructions", "offers", STATES.key} & {*KEYS}


def test_every_tool_of_a_kind_is_in_the_toolbox() -> None:
    assert {tool.name for kind in KINDS for tool in kind.tools} < {*TOOLBOX.names}


def test_a_panel_has_one_name_in_the_drawer_and_on_the_pages_of_requests() -> None:
    """Files stand in requests one by one, under their paths."""
    kinds = [kind for kind in KINDS if kind.key not in FILES]
    named = [source_title(f"panel:{kind.key}").casefold() for kind in kinds]
    assert named == [f"Panel “{kind.title}”".casefold() for kind in kinds]


class Half(Action):
    tool_title = "Half"


class Unfinished(PanelKind[PanelRow]):
    key = "unfinished"
    title = "Unfinished"
    model = Note
    row = PanelRow
    actions = (Half,)


Unfinished.__module__ = "sessions_app.panels.kinds.unfinished"


def test_what_is_missing_is_named() -> None:
    told = "\n".join(missing(Unfinished()))
    for piece in (
        *(
            "`description`",
            "`value`",
            "templates/panels/unfinished.html",
            "`is_transferred`",
            "`position`",
            "tests/panels/kinds/test_unfinished.py",
        ),
        *("`Half.carry_out`", "no `answer`", "no docstring", "`tool_group`"),
    ):
        assert piece in told


def test_a_column_that_would_be_lost_is_named() -> None:
    class Lossy(Unfinished):
        is_transferred = True
        transfer_reason = "It has to."

    assert any("no `title`" in piece for piece in missing(Lossy()))
