"""What stands inside an open panel, besides what the model reads: the rows that a person edits."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sessions_app.chat.panels.values import shown
from sessions_app.context.facts import user_turns
from sessions_app.context.files import ReadFile
from sessions_app.context.panels import ReadPanel
from sessions_app.context.readings import EVERY
from sessions_app.context.rows import LOG_LINES, SEEN_NOTIFICATIONS
from sessions_app.context.workspaces import workspace_of
from sessions_app.models import (
    AllowedCommand,
    Artifact,
    Memory,
    Notification,
    PromptText,
    Reading,
    Reference,
    Session,
)

LIST_LIMIT = 200
"""Files of a workspace that are offered."""

LIVES = (1, 3, 10, 30)
"""Messages that a file can be kept open for; the list also offers “for ever”."""


@dataclass(frozen=True, slots=True)
class OpenFile:
    """A file of the session; `read` is None while it is switched off."""

    reference: Reference
    read: ReadFile | None
    left: int | None
    """Messages until it is closed; None: never."""


@dataclass(frozen=True, slots=True)
class Command:
    """An allowed command and what it printed last."""

    command: AllowedCommand
    reading: Reading | None


def body_of(session: Session, read: ReadPanel) -> dict[str, Any]:
    """What the template of this kind needs, and which it is; a constant number of statements."""
    template, make = BODIES.get(read.kind.key, ("value", _value))
    return {"inside": f"chat/panels/{template}.html", **make(session, read)}


def _value(session: Session, read: ReadPanel) -> dict[str, Any]:
    return {"value": shown(read.panel.value) if read.panel else None}


def _files(session: Session, read: ReadPanel) -> dict[str, Any]:
    references = list(session.references.all())
    contents = {file.path: file for file in read.files}
    mortal = any(one.ttl and not one.pinned for one in references)
    turns = user_turns(session) if mortal else 0
    taken = {one.path for one in references}
    return {
        "files": [OpenFile(one, _content(one, contents), _left(one, turns)) for one in references],
        "offered": [path for path in workspace_of(session.owner_id).list(LIST_LIMIT) if path not in taken],
        "lives": LIVES,
    }


def _content(reference: Reference, contents: Mapping[str, ReadFile]) -> ReadFile | None:
    return contents.get(reference.path) if reference.enabled else None


def _left(reference: Reference, turns: int) -> int | None:
    """It is closed with the message that comes after so many."""
    if reference.ttl is None or reference.pinned:
        return None
    return max(0, reference.ttl - (turns - reference.born))


def _artifacts(session: Session, read: ReadPanel) -> dict[str, Any]:
    contents = {file.path: file for file in read.files}
    found: list[tuple[Artifact, ReadFile | None]] = [
        (one, contents.get(one.path)) for one in session.artifacts.all()
    ]
    return {"artifacts": found}


def _todos(session: Session, read: ReadPanel) -> dict[str, Any]:
    return {"todos": list(session.todos.all())}


def _memories(session: Session, read: ReadPanel) -> dict[str, Any]:
    mine = Memory.objects.filter(owner_id=session.owner_id)
    return {"memories": list(mine), "importances": Memory.Importance.choices}


def _notes(session: Session, read: ReadPanel) -> dict[str, Any]:
    return {"notes": list(session.notes.all())}


def _log(session: Session, read: ReadPanel) -> dict[str, Any]:
    return {"lines": session.log_entries.order_by("-pk")[:LOG_LINES], "most": LOG_LINES}


def _notifications(session: Session, read: ReadPanel) -> dict[str, Any]:
    told = session.notifications.told()
    seen = list(told.filter(status=Notification.Status.SEEN).order_by("-number")[:SEEN_NOTIFICATIONS])
    return {"open": list(told.open()), "seen": seen}


def _console(session: Session, read: ReadPanel) -> dict[str, Any]:
    read_last = {one.key: one for one in session.readings.filter(key__startswith="console:")}
    allowed = AllowedCommand.objects.filter(enabled=True)
    return {"commands": [Command(one, read_last.get(f"console:{one.name}")) for one in allowed]}


def _skills(session: Session, read: ReadPanel) -> dict[str, Any]:
    chosen = session.options.skills
    library = PromptText.objects.filter(kind=PromptText.Kind.SKILL).defer("body")
    return {
        "skills": [(one, chosen is None or one.name in chosen) for one in library],
        **_value(session, read),
    }


def _program(session: Session, read: ReadPanel) -> dict[str, Any]:
    reading = session.readings.filter(key=read.kind.key).first()
    return {"reading": reading, "every": EVERY // 60, **_value(session, read)}


BODIES: Mapping[str, tuple[str, Callable[[Session, ReadPanel], dict[str, Any]]]] = {
    "file_references": ("files", _files),
    "artifacts": ("artifacts", _artifacts),
    "todos": ("todos", _todos),
    "memories": ("memories", _memories),
    "scratchpad": ("notes", _notes),
    "logs": ("log", _log),
    "notifications": ("notifications", _notifications),
    "console": ("console", _console),
    "git_status": ("program", _program),
    "git_log": ("program", _program),
    "github": ("program", _program),
    "library": ("library", _value),
    "skills": ("skills", _skills),
}
