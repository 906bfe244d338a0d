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
DECLARATIONS = json.loads(Path(__file__).with_name("declarations.json").read_bytes())


@pytest.fixture
def panels(alice: User, workspace: Workspace) -> dict[str, ReadPanel]:
    session = fill(alice, workspace)
    return {one.kind.key: one for one in read_panels(session, workspace, NOW, tools=TOOLS, asked=KEYS)}


def test_what_is_sent_of_each_kind_has_not_changed(panels: dict[str, ReadPanel]) -> None:
    """`sha256` is of the bytes; long values are shortened in the file."""
    for key, expected in VALUES.items():
        read = panels[key]
        sent = {name: getattr(read, name) for name in ("sha256", "tokens", "page", "pages", "problem")}
        assert (key, sent) == (key, {name: expected[name] for name in sent})
        if key not in {"file_references", "logs"}:
            assert (read.panel.value if read.panel else None) == expected["value"]


def test_what_is_declared_of_each_tool_has_not_changed() -> None:
    tools = {tool.name: tool for tool in TOOLBOX}
    for expected in DECLARATIONS:
        tool = tools[expected["declaration"]["name"]]
        assert (tool.group, tool.title, tool.is_standard) == (
            *(expected["group"], expected["title"], expected["standard"]),
        )
        assert json.dumps(tool.declaration) == json.dumps(expected["declaration"])
