"""Panels as they would be sent at a fixed time."""

from datetime import UTC, datetime, timedelta

from sessions_app.models import Reading, Session
from sessions_app.panels.base import ReadPanel
from sessions_app.panels.refresh import read_panels, refresh
from sessions_app.prompt.panels import Panel
from sessions_app.workspace import Workspace

NOW = datetime(2026, 11, 21, 9, tzinfo=UTC)
LATER = NOW + timedelta(minutes=5)


def panels(session: Session, workspace: Workspace, now: datetime = NOW) -> dict[str, Panel]:
    """By their keys, after a refresh."""
    return {panel.key: panel for one in refresh(session, workspace, now) for panel in one.panels}


def read(session: Session, workspace: Workspace, key: str) -> ReadPanel:
    tools = {"calculate": True, "write_note": False}
    found = read_panels(session, workspace, NOW, tools=tools, asked=[key])
    return next(one for one in found if one.kind.key == key)


def value(session: Session, workspace: Workspace, key: str) -> object:
    found = read(session, workspace, key).panels
    return found[0].value if found else None


def reading(session: Session, key: str, text: str, *, age: int = 0, failed: bool = False) -> Reading:
    """The stored output of a program that was read `age` seconds before NOW."""
    read_at = NOW - timedelta(seconds=age)
    return Reading.objects.create(session=session, key=key, text=text, failed=failed, read_at=read_at)
