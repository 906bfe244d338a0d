"""Lists of sessions: the pinned ones, the newest, the archive, what a search found."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from django.contrib.auth.models import AnonymousUser, User
from django.db.models import QuerySet
from django.db.models.functions import Left

from sessions_app.markup import plain
from sessions_app.models import Session

LIST_LIMIT = 200
SIDE_LIMIT = 60
PREVIEW_LENGTH = 180

SHOWN = ("public", "title", "updated_at", "owner_id", "pinned_at", "archived_at")


@dataclass(frozen=True, slots=True)
class SessionList:
    """The sessions of one person, newest first; the pinned ones stand apart."""

    pinned: Sequence[Session]
    sessions: Sequence[Session]
    has_more: bool
    is_archive: bool = False

    @classmethod
    def of(cls, owner: User | AnonymousUser, limit: int = LIST_LIMIT) -> Self:
        listed = Session.objects.of(owner).listed()
        pinned = _rows(listed.exclude(pinned_at=None).order_by("-pinned_at"), limit)
        found = _rows(listed.filter(pinned_at=None), limit + 1)
        return cls(pinned, found[:limit], len(found) > limit)

    @classmethod
    def archive_of(cls, owner: User | AnonymousUser, limit: int = LIST_LIMIT) -> Self:
        found = _rows(Session.objects.of(owner).archived(), limit + 1)
        return cls((), found[:limit], len(found) > limit, is_archive=True)

    @property
    def is_empty(self) -> bool:
        return not self.pinned and not self.sessions


def preview_of(text: str) -> str:
    """The beginning of a turn as the list shows it."""
    return plain(text[:PREVIEW_LENGTH])


def _rows(sessions: QuerySet[Session], limit: int) -> list[Session]:
    found: list[Session] = list(
        sessions.only(*SHOWN).annotate(start=Left("head__text", PREVIEW_LENGTH))[:limit]
    )
    for session in found:
        session.preview = preview_of(session.start or "")  # type: ignore[attr-defined]
    return found
