"""Every tab, tool and stage has all its pieces; what is missing is named (sessions_app/CONTRIBUTING.md)."""

import importlib
import pkgutil
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest
from django.conf import settings

from sessions_app import tools
from sessions_app.inspector import tabs
from sessions_app.inspector.tabs import TABS
from sessions_app.inspector.tabs.base import Tab
from sessions_app.panels import KINDS, TOOLBOX
from sessions_app.prompt.stage_records import FIGURES, StageName
from sessions_app.tools import Tool
from sessions_app.wording import stages

ROOT = Path(settings.BASE_DIR)


def missing_of_tab(tab: Tab) -> list[str]:
    pieces = {
        "`title`": bool(tab.title),
        f"templates/{tab.template}": (ROOT / "templates" / tab.template).is_file(),
        f"sessions_app/inspector/tabs/{tab.id}_tab.py": type(tab).__module__.endswith(f".{tab.id}_tab"),
        f"tests/inspector/test_{tab.id}.py": (ROOT / f"tests/inspector/test_{tab.id}.py").is_file(),
        "an entry in TABS": any(type(one) is type(tab) for one in TABS),
        "`context` or `read`": (type(tab).context, type(tab).read) != (Tab.context, Tab.read),
    }
    return [piece for piece, is_there in pieces.items() if not is_there]


def written_tabs() -> Iterator[Tab]:
    for module in pkgutil.iter_modules(tabs.__path__):
        importlib.import_module(f"{tabs.__name__}.{module.name}")
    for kind in Tab.__subclasses__():
        if kind.__module__.startswith("sessions_app."):
            yield kind()


@pytest.mark.parametrize("tab", list(written_tabs()), ids=lambda tab: tab.id)
def test_a_tab_has_all_its_pieces(tab: Tab) -> None:
    assert missing_of_tab(tab) == []


def test_the_missing_pieces_of_a_tab_are_named() -> None:
    class Unfinished(Tab):
        id = "unfinished"
        title = ""

    named = missing_of_tab(Unfinished())
    assert len(named) == 6 and "templates/inspector/tabs/unfinished.html" in named


def missing_of_tool(tool: Tool) -> list[str]:
    pieces = {
        "a title": bool(tool.title),
        "a group": bool(tool.group),
        "a docstring": bool(tool.description),
        "a place in TOOLBOX": tool.name in TOOLBOX.names,
        "a test that calls it": any(tool.name in text for text in texts_of_tests()),
    }
    return [piece for piece, is_there in pieces.items() if not is_there]


def texts_of_tests() -> list[str]:
    folders = (ROOT / "tests" / "tools", ROOT / "tests" / "panels")
    return [path.read_text() for folder in folders for path in folder.rglob("test_*.py")]


def written_tools() -> Iterator[Tool]:
    """Those in the modules of `tools`, listed or not, and those of the panel kinds."""
    for found in pkgutil.iter_modules(tools.__path__):
        module = importlib.import_module(f"{tools.__name__}.{found.name}")
        for value in vars(module).values():
            yield from (
                one for one in (value if isinstance(value, tuple) else (value,)) if isinstance(one, Tool)
            )
    for kind in KINDS:
        yield from kind.tools


@pytest.mark.parametrize(
    "tool", list({one.name: one for one in written_tools()}.values()), ids=lambda one: one.name
)
def test_a_tool_has_all_its_pieces(tool: Tool) -> None:
    assert missing_of_tool(tool) == []


def test_the_missing_pieces_of_a_tool_are_named() -> None:
    def nameless() -> dict[str, str]:
        return {}

    named = missing_of_tool(tools.toolbox.tool(nameless, "", ""))
    assert named == ["a title", "a group", "a docstring", "a place in TOOLBOX", "a test that calls it"]


def missing_of_stage(name: str) -> list[str]:
    figures = FIGURES.get(name)
    cases = (get_args(figures.model_fields["case"].annotation) or ("",)) if figures else ()
    calls = "".join(path.read_text() for path in (ROOT / "sessions_app" / "runs").rglob("*.py"))
    member = next((member.name for member in StageName if member == name), "")
    pieces = {
        "a member of StageName": bool(member),
        "a model of its figures in FIGURES": figures is not None,
        "a title in wording.stages": name in stages.TITLES,
        **{f"what came in: {case or 'its one case'}": (name, case) in stages.CAME_IN for case in cases},
        **{f"what came out: {case or 'its one case'}": (name, case) in stages.CAME_OUT for case in cases},
        "a call in runs/": f"StageName.{member}" in calls,
    }
    return [piece for piece, is_there in pieces.items() if not is_there]


@pytest.mark.parametrize("name", list(StageName))
def test_a_stage_has_all_its_pieces(name: StageName) -> None:
    assert missing_of_stage(name) == []


def test_the_missing_pieces_of_a_stage_are_named() -> None:
    assert {"a member of StageName", "a title in wording.stages"} <= {*missing_of_stage("polish")}
