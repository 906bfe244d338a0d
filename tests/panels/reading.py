"""Panels as they would be sent at a fixed time."""

from datetime import UTC, datetime, timedelta

from sessions_app.models import Reading, Session
from sessions_app.panels.base import ReadPanel
from sessions_app.panels.refresh import read_panels
from sessions_app.workspace import Workspace

NOW = datetime(2026, 11, 21, 9, tzinfo=UTC)


def read(session: Session, workspace: Workspace, key: str) -> ReadPanel:
    tools = {"calculate": True, "write_note": False}
    found = read_panels(session, workspace, NOW, tools=tools, asked=[key])
    return next(one for one in found if one.kind.key == key)


def value(session: Session, workspace: Workspace, key: str) -> object:
    panels = read(session, workspace, key).panels
    return panels[0].value if panels else None


def reading(session: Session, key: str, text: str, *, age: int = 0, failed: bool = False) -> Reading:
    """The stored output of a program that was read `age` seconds before NOW."""
    read_at = NOW - timedelta(seconds=age)
    return Reading.objects.create(session=session, key=key, text=text, failed=failed, read_at=read_at)
