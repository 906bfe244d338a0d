"""The output of allowed commands as a panel."""

import pytest

from sessions_app.models import AllowedCommand, Session
from sessions_app.workspace import Workspace
from tests.panels.reading import reading, value

pytestmark = pytest.mark.django_db


def test_the_console_shows_allowed_commands_only(session: Session, workspace: Workspace) -> None:
    AllowedCommand.objects.create(name="disk", argv=["df"])
    AllowedCommand.objects.create(name="off", argv=["df"], enabled=False)
    reading(session, "console:disk", "90 %", failed=True)
    reading(session, "console:off", "secret")
    reading(session, "console:removed", "secret")
    assert value(session, workspace, "console") == [{"command": "disk", "output": "90 %", "failed": True}]
