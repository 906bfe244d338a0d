"""Files that the model wrote, as a panel and by its tool."""

from typing import Any

import pytest

from sessions_app.models import (
    Artifact,
    Reference,
    Session,
)
from sessions_app.panels import TOOLBOX
from sessions_app.panels.file_edits import WriteArtifact
from sessions_app.tools import ToolContext, ToolResult
from sessions_app.workspace import Workspace
from tests.panels.reading import panels

pytestmark = pytest.mark.django_db


def test_artifacts_are_a_panel_of_their_own(session: Session, workspace: Workspace) -> None:
    workspace.write_text("poem.txt", "roses")
    Artifact.objects.create(session=session, path="poem.txt")
    assert set(panels(session, workspace)) == {"artifacts/poem.txt", "tree"}


def test_an_artifact_that_is_open_is_sent_once(session: Session, workspace: Workspace) -> None:
    workspace.write_text("poem.txt", "roses")
    Artifact.objects.create(session=session, path="poem.txt")
    Reference.objects.create(session=session, path="poem.txt")
    found = panels(session, workspace)
    assert found["file_references/poem.txt"].value == "roses"
    assert found["artifacts/poem.txt"].value == {
        "not_sent": "Its content stands under file_references/poem.txt."
    }


async def call(context: ToolContext, name: str, **args: Any) -> ToolResult:
    return await TOOLBOX.run(name, args, context)


async def test_an_artifact_is_written_by_the_run(context: ToolContext) -> None:
    result = await call(context, "write_artifact", path="out/./a.md", text="hello")
    (effect,) = result.effects
    assert isinstance(effect, WriteArtifact)
    assert effect.model_dump() == {"path": "out/./a.md", "text": "hello"}
    assert result.response["written"] == "out/a.md"
    assert context.workspace.list() == ()


async def test_an_artifact_outside_the_workspace_is_refused(context: ToolContext) -> None:
    result = await call(context, "write_artifact", path="../a.md", text="hello")
    assert result.failed
    assert result.effects == ()
