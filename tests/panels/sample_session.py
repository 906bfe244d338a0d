"""A session that has something of every kind, with fixed numbers and times: what its panels say is golden."""

from datetime import UTC, datetime, timedelta

from django.contrib.auth.models import User

from sessions_app.models import (
    AllowedCommand,
    Artifact,
    LogEntry,
    Memory,
    Note,
    Notification,
    PanelState,
    PromptText,
    Reading,
    Reference,
    Session,
    Todo,
)
from sessions_app.workspace import Workspace
from tests import factories

NOW = datetime(2026, 11, 21, 9, tzinfo=UTC)
TOOLS = {"calculate": True, "write_note": False}


def fill(owner: User, workspace: Workspace) -> Session:
    """Two rows or more of every kind that has rows, and files, programs and answers for the others."""
    session = factories.make_session(owner, settings={"time_zone": "Europe/Paris", "skills": ["Kneading"]})
    _files(session, workspace)
    _texts(session, owner)
    _programs(session)
    PromptText.objects.all().delete()
    for kind, name, summary in (("skill", "Kneading", "Slowly"), ("skill", "Sifting", ""), ("role", "B", "")):
        PromptText.objects.create(kind=kind, name=name, summary=summary, body=f"Body of {name}.")
    factories.make_history(session, 2)
    return session


def _files(session: Session, workspace: Workspace) -> None:
    workspace.write_text("plans/a.md", "ü one\ntwo")
    workspace.write_text("long.txt", "a line\n" * 20_000)
    workspace.write_text("poem.txt", "roses")
    later = NOW + timedelta(minutes=1)
    Reference.objects.create(session=session, path="long.txt", page=2, added_at=later)
    Reference.objects.create(session=session, path="plans/a.md", added_at=NOW)
    Reference.objects.create(session=session, path="gone.md", added_at=later)
    Reference.objects.create(session=session, path="off.md", enabled=False)
    for path, changed in (("poem.txt", later), ("plans/a.md", NOW)):
        Artifact.objects.create(session=session, path=path, changed_at=changed)


def _texts(session: Session, owner: User) -> None:
    Todo.objects.create(session=session, position=2, title="water the “beans”", done=True)
    Todo.objects.create(session=session, position=1, title="bake")
    Note.objects.create(session=session, position=2, text="flour\n<b>")
    Note.objects.create(session=session, position=1, title="Shop", text="salt")
    Memory.objects.create(pk=901, owner=owner, text="likes rye", importance="high")
    Memory.objects.create(pk=902, owner=owner, text="bakes on Sundays")
    for second in range(102):
        LogEntry.objects.create(
            session=session, text=f"line {second}", created_at=NOW + timedelta(seconds=second)
        )
    for number in range(13):
        Notification.objects.add(session.pk, "custom", "old", source=str(number), status="seen")
    Notification.objects.add(session.pk, "guard_rail", "stop")
    Notification.objects.add(session.pk, "user_message", "Hello")
    Notification.objects.filter(session=session).update(created_at=NOW)


def _programs(session: Session) -> None:
    AllowedCommand.objects.create(name="disk", argv=["df"], every=60)
    AllowedCommand.objects.create(name="off", argv=["df"], enabled=False)
    for key, age, failed in (
        *(("git_status", 10, False), ("git_log", 900, False), ("github", 0, True)),
        *(("console:disk", 200, True), ("console:off", 0, False), ("console:gone", 0, False)),
    ):
        read_at = NOW - timedelta(seconds=age)
        Reading.objects.create(session=session, key=key, text=f"said {key}", failed=failed, read_at=read_at)
    PanelState.objects.set_page(session, "todos", 3)
