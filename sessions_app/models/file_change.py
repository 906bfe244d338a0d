"""What tools changed in the files of a workspace, with what a person needs to see it and to undo it."""

from hashlib import sha256
from typing import TYPE_CHECKING

from django.db import models
from django.utils import timezone

from sessions_app.models.blob import Blob
from sessions_app.models.columns import storable
from sessions_app.models.line_diff import unified
from sessions_app.models.panel_items import PATH_LIMIT

if TYPE_CHECKING:
    from sessions_app.models.session import Session

DIFF_LIMIT = 100_000
"""Characters of a stored diff."""


class FileChangeQuerySet(models.QuerySet["FileChange"]):
    def record(
        self,
        session: "Session",
        key: str,
        kind: "FileChange.Kind",
        path: str,
        *,
        before: bytes | None,
        after: bytes | None = None,
        moved_to: str = "",
    ) -> "FileChange":
        """Stores a change with the file as it was, None for a move. Must run in a transaction."""
        blob = None
        if before is not None:
            blob = next(iter(Blob.objects.store(session.owner_id, [before]).values()))
        diff = "" if before is None else diff_of(before, after or b"")
        return self.create(
            session=session,
            key=key,
            kind=kind,
            path=path,
            moved_to=moved_to,
            before_id=blob,
            after_sha256=sha256(after).hexdigest() if after is not None else "",
            diff=storable(diff, DIFF_LIMIT),
        )


class FileChange(models.Model):
    """One change of one file. `key` is what the response of its call names."""

    class Kind(models.TextChoices):
        EDITED = "edited"
        MOVED = "moved"
        DELETED = "deleted"

    session = models.ForeignKey("Session", on_delete=models.CASCADE, related_name="file_changes")
    key = models.CharField(max_length=8)
    kind = models.CharField(max_length=8, choices=Kind)
    path = models.CharField(max_length=PATH_LIMIT)
    moved_to = models.CharField(max_length=PATH_LIMIT, blank=True)
    before = models.ForeignKey(
        Blob, null=True, on_delete=models.PROTECT, related_name="+", help_text="Null: it was moved."
    )
    after_sha256 = models.CharField(max_length=64, blank=True, help_text="Empty: there is no file.")
    diff = models.TextField(blank=True)
    at = models.DateTimeField(default=timezone.now)
    undone_at = models.DateTimeField(null=True, blank=True)

    objects = FileChangeQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]
        constraints = [models.UniqueConstraint(fields=["session", "key"], name="file_change_once")]

    def __str__(self) -> str:
        return f"{self.kind} {self.path}"

    @property
    def is_cut(self) -> bool:
        return len(self.diff) >= DIFF_LIMIT


def diff_of(before: bytes, after: bytes) -> str:
    """A unified diff of two texts with three lines of context; empty where one is not text."""
    try:
        old, new = (text.decode().splitlines() for text in (before, after))
    except UnicodeDecodeError:
        return ""
    return "\n".join(unified(old, new))
