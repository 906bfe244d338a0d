from collections.abc import Callable
from pathlib import Path
from subprocess import run

import pytest
from django.contrib.auth.models import User
from pytest_django import Settings

from sessions_app.context.workspaces import workspace_of
from sessions_app.models import Session
from sessions_app.workspace import Workspace

Git = Callable[..., None]

AUTHOR = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "commit.gpgsign=false")


@pytest.fixture
def session(alice: User) -> Session:
    return Session.objects.create(owner=alice, model="gemini-3-flash-preview")


@pytest.fixture
def workspace(session: Session, settings: Settings, tmp_path: Path) -> Workspace:
    settings.PIPEWEB_WORKSPACES = tmp_path
    return workspace_of(session.owner_id)


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
