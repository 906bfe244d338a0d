"""A session of alice with a workspace of its own."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from subprocess import run

import pytest
from django.contrib.auth.models import User
from pytest_django import Settings

from sessions_app.context.workspaces import workspace_of
from sessions_app.models import Session
from sessions_app.panels.kinds.todos import TodoRow
from sessions_app.tools import ToolContext
from sessions_app.workspace import Workspace
from tests import factories

Git = Callable[..., None]

AUTHOR = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "commit.gpgsign=false")


@pytest.fixture
def session(alice: User) -> Session:
    return factories.make_session(alice)


@pytest.fixture(autouse=True)
def workspaces(settings: Settings, tmp_path: Path) -> Path:
    settings.PIPEWEB_WORKSPACES = tmp_path
    return tmp_path


@pytest.fixture
def workspace(session: Session, workspaces: Path) -> Workspace:
    return workspace_of(session.owner_id)


@pytest.fixture
def context(tmp_path: Path) -> ToolContext:
    """What the tools of a round see; no database."""
    folder = tmp_path / "seen"
    folder.mkdir()
    todos = (TodoRow(position=1, title="buy bread"), TodoRow(position=2, title="sleep", done=True))
    now = datetime(2026, 1, 2, 15, 4, 5, 678, tzinfo=UTC)
    return ToolContext(now, Workspace(folder), {"todos": todos}, "Europe/Paris")


@pytest.fixture
def git(tmp_path: Path) -> Git:
    """The git program in a folder of this test, as its owner would use it."""

    def call(*words: str, folder: Path = tmp_path) -> None:
        run(["git", *AUTHOR, *words], cwd=folder, check=True, capture_output=True)

    return call


@pytest.fixture
def repository(tmp_path: Path, git: Git) -> Path:
    """A folder with one commit, one changed file and one new one."""
    git("init", "-q", "-b", "main")
    (tmp_path / "a.txt").write_text("one\n")
    git("add", "a.txt")
    git("commit", "-q", "-m", "Begin")
    (tmp_path / "a.txt").write_text("two\n")
    (tmp_path / "new.txt").write_text("new\n")
    return tmp_path
