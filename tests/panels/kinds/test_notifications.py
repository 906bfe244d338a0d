"""What happened, as a panel."""

from datetime import UTC, datetime, timedelta

import pytest

from sessions_app.models import (
    Notification,
    Session,
)
from sessions_app.panels.refresh import refresh
from sessions_app.prompt.panels import Panel
from sessions_app.workspace import Workspace

pytestmark = pytest.mark.django_db

NOW = datetime(2026, 11, 21, 9, tzinfo=UTC)
LATER = NOW + timedelta(minutes=5)


def panels(session: Session, workspace: Workspace, now: datetime = NOW) -> dict[str, Panel]:
    return {one.kind.key: one.panel for one in refresh(session, workspace, now) if one.panel}


def test_notifications_are_the_open_ones_and_the_last_ten_seen(
    session: Session, workspace: Workspace
) -> None:
    for number in range(1, 14):
        Notification.objects.add(session.pk, "custom", "old", source=str(number), status="seen")
    Notification.objects.add(session.pk, "guard_rail", "stop")
    Notification.objects.add(session.pk, "user_message", "a message is in the history already")
    found = panels(session, workspace)["notifications"].value
    assert [one["id"] for one in found] == [f"N{number}" for number in range(4, 15)]
