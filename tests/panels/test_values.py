"""What every kind of panel sends, to the byte: it stands in cached prefixes."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User

from sessions_app.panels import KEYS, TOOLBOX
from sessions_app.panels.base import ReadPanel
from sessions_app.panels.refresh import read_panels
from sessions_app.workspace import Workspace
from tests.panels.sample_session import NOW, TOOLS, fill

VALUES: dict[str, dict[str, Any]] = json.loads(Path(__file__).with_name("values.json").read_bytes())
SHORTENED = ("file_references/long.txt", "logs")
DECLARATIONS = json.loads(Path(__file__).with_name("declarations.json").read_bytes())


@pytest.fixture
def panels(alice: User, workspace: Workspace) -> dict[str, ReadPanel]:
    session = fill(alice, workspace)
    return {one.kind.key: one for one in read_panels(session, workspace, NOW, tools=TOOLS, asked=KEYS)}


def test_what_is_sent_of_each_kind_has_not_changed(panels: dict[str, ReadPanel]) -> None:
    """`sha256` is of the bytes; long values are shortened in the file."""
    found: dict[str, Any] = {}
    for key, read in panels.items():
        of_kind = {"page": read.page, "pages": read.pages, "problem": read.problem}
        empty = {"value": None, "sha256": "", "tokens": 0}
        found |= {
            one.panel.key: {"value": one.panel.value, "sha256": one.sha256, "tokens": one.tokens} | of_kind
            for one in read.sent
        } or {key: empty | of_kind}
    for key in SHORTENED:
        found[key]["value"] = VALUES[key]["value"]
    assert found == VALUES


def test_what_is_declared_of_each_tool_has_not_changed() -> None:
    tools = {tool.name: tool for tool in TOOLBOX}
    for expected in DECLARATIONS:
        tool = tools[expected["declaration"]["name"]]
        assert (tool.group, tool.title, tool.is_standard) == (
            *(expected["group"], expected["title"], expected["standard"]),
        )
        assert json.dumps(tool.declaration) == json.dumps(expected["declaration"])
