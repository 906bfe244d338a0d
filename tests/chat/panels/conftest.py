"""A session of alice with a workspace of its own."""

from pathlib import Path

import pytest
from django.contrib.auth.models import User
from pytest_django import Settings

from sessions_app.context.workspaces import workspace_of
from sessions_app.models import Session
from sessions_app.workspace import Workspace
from tests import factories


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
