"""What the templates need, built from rows with a constant number of queries."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

from django.conf import settings
from django.contrib.auth.models import AnonymousUser, User
from django.db.models import QuerySet
from django.db.models.functions import Left
from django.http import HttpRequest

from sessions_app.chat.transcript import Transcript
from sessions_app.context.workspaces import workspace_of
from sessions_app.models import Artifact, Reference, Session, Todo

LIST_LIMIT = 200
SIDE_LIMIT = 60
PREVIEW_LENGTH = 180


def provider(request: HttpRequest) -> dict[str, Any]:
    """Context processor: who answers, on every page."""
    is_emulator = not settings.GEMINI_API_KEY
    return {
        "provider_label": "Gemini emulator" if is_emulator else "Google Gemini",
        "is_emulator": is_emulator,
    }


@dataclass(frozen=True, slots=True)
class SessionList:
    """The sessions of one person, newest first. `words` is what was searched for."""

    sessions: Sequence[Session]
    words: str
    has_more: bool

    @classmethod
    def of(cls, owner: User | AnonymousUser, words: str = "", limit: int = LIST_LIMIT) -> Self:
        rows = Session.objects.of(owner).titled(words).only("public", "title", "updated_at", "owner_id")
        found = list(rows.annotate(preview=Left("head__text", PREVIEW_LENGTH))[: limit + 1])
        return cls(found[:limit], words, len(found) > limit)


@dataclass(frozen=True, slots=True)
class Details:
    """What stands beside a chat: files that the model sees, files it wrote, todos."""

    session: Session
    references: QuerySet[Reference]
    artifacts: QuerySet[Artifact]
    todos: QuerySet[Todo]
    files: tuple[str, ...]
    """Files of the workspace that are not referenced yet."""
    problem: str = ""

    @classmethod
    def of(cls, session: Session, problem: str = "") -> Self:
        references = session.references.all()
        taken = {reference.path for reference in references}
        files = tuple(path for path in workspace_of(session.owner_id).list(LIST_LIMIT) if path not in taken)
        return cls(session, references, session.artifacts.all(), session.todos.all(), files, problem)


@dataclass(frozen=True, slots=True)
class ChatPage:
    session: Session
    transcript: Transcript
    side: SessionList
    details: Details

    @classmethod
    def of(cls, session: Session, side: SessionList) -> Self:
        return cls(session, Transcript.ending_at(session.head), side, Details.of(session))
