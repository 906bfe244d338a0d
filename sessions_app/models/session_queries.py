"""Selections of sessions, and the actions of the session list."""

from datetime import timedelta
from typing import TYPE_CHECKING, Any, Self

from django.db import models
from django.db.models.functions import Now
from django.utils import timezone

from sessions_app.models.capture_address import OF_FILE
from sessions_app.models.origin import Origin
from sessions_app.models.prepared import Parameter
from sessions_app.models.run import Run

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser, User

    from sessions_app.models.session import Session

LIST_ACTIONS: dict[str, dict[str, Any]] = {
    "pin": {"pinned_at": Now()},
    "unpin": {"pinned_at": None},
    "archive": {"archived_at": Now(), "pinned_at": None},
    "unarchive": {"archived_at": None},
    "delete": {},  # Session.soft_delete: releases its caches too
    "restore": {"deleted_at": None},
}
"""Actions of the session list, with the fields they update."""

TEMPORARY_LIFETIME = timedelta(days=1)
"""An unused temporary session is erased after this time."""

CAPTURED_LIFETIME = timedelta(days=30)
"""A captured session is erased so long after its last request."""


class SessionQuerySet(models.QuerySet["Session"]):
    def of(self, user: "User | AnonymousUser") -> Self:
        """The user's sessions; every look-up for a person starts here."""
        return self.owned_by(user.pk)

    def owned_by(self, owner: "int | Parameter | None") -> Self:
        return self.filter(owner=owner, deleted_at=None, is_importing=False)

    def chats(self) -> Self:
        """Those that a person writes in."""
        return self.filter(origin=Origin.CHAT)

    def captured(self) -> Self:
        """Those of other programs."""
        return self.filter(origin=Origin.CAPTURED)

    def listed(self) -> Self:
        """Chats that are neither archived nor temporary."""
        return self.chats().filter(archived_at=None, temporary=False)

    def expired_captured(self) -> Self:
        """Captured sessions that nothing was added to for `CAPTURED_LIFETIME`; imported ones stay."""
        relayed = self.captured().exclude(captured_keys__address__token_hash__startswith=OF_FILE)
        return relayed.filter(updated_at__lt=timezone.now() - CAPTURED_LIFETIME)

    def expired_temporary(self) -> Self:
        """Temporary sessions without activity for `TEMPORARY_LIFETIME`."""
        since = timezone.now() - TEMPORARY_LIFETIME
        return self.filter(temporary=True, updated_at__lt=since).exclude(runs__status__in=Run.ACTIVE)

    def apply_action(self, action: str) -> int:
        """Applies one of LIST_ACTIONS; returns the number of sessions."""
        if action != "delete":
            return self.update(**LIST_ACTIONS[action])
        sessions: list[Session] = list(self)
        for session in sessions:
            session.soft_delete()
        return len(sessions)

    def archived(self) -> Self:
        return self.chats().filter(temporary=False).exclude(archived_at=None).order_by("-archived_at")
