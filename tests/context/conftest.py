from pathlib import Path

import pytest
from django.contrib.auth.models import User
from pytest_django import Settings

from sessions_app.context.workspaces import workspace_of
from sessions_app.models import Session
from sessions_app.workspace import Workspace


@pytest.fixture
def session(alice: User) -> Session:
    return Session.objects.create(owner=alice, model="gemini-3-flash-preview")


@pytest.fixture
def workspace(session: Session, settings: Settings, tmp_path: Path) -> Workspace:
    settings.PIPEWEB_WORKSPACES = tmp_path
    return workspace_of(session.owner_id)
