"""Links under which anybody reads a frozen copy of a branch."""

import secrets
import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Self

from django.db import models, transaction
from django.db.models import Q
from django.utils import timezone

from sessions_app.models.attachment import MIME_LENGTH, NAME_LENGTH
from sessions_app.models.blob import Blob

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser, User

    from sessions_app.models.session import Session

TOKEN_BYTES = 24
"""Random bytes of a token: 192 bits."""


def new_token() -> str:
    return secrets.token_urlsafe(TOKEN_BYTES)


@dataclass(frozen=True, slots=True)
class FileToShare:
    """`content` is its bytes, or the key of a blob of the same owner that holds them."""

    name: str
    mime: str
    content: bytes | int


class SharedLinkQuerySet(models.QuerySet["SharedLink"]):
    def of(self, user: "User | AnonymousUser") -> Self:
        """The links of a person; those of deleted sessions are as hidden as the sessions."""
        return self.filter(session__owner_id=user.pk, session__deleted_at=None)

    def expired(self) -> Self:
        return self.filter(expires_at__lte=timezone.now())

    def readable(self) -> Self:
        """What anybody may read: not expired, session not deleted, owner not deactivated."""
        lasting = Q(expires_at=None) | Q(expires_at__gt=timezone.now())
        return self.filter(lasting, session__deleted_at=None, session__owner__is_active=True)

    @transaction.atomic
    def make(
        self,
        session: "Session",
        *,
        snapshot: bytes,
        has_details: bool,
        files: Iterable[FileToShare],
        expires_at: datetime | None,
    ) -> "SharedLink":
        link = self.create(
            session=session,
            content_id=_stored(session, snapshot),
            has_details=has_details,
            expires_at=expires_at,
        )
        SharedFile.objects.bulk_create(
            SharedFile(
                link=link,
                number=number,
                name=file.name[:NAME_LENGTH],
                mime=file.mime[:MIME_LENGTH],
                blob_id=file.content if isinstance(file.content, int) else _stored(session, file.content),
            )
            for number, file in enumerate(files)
        )
        return link

    @transaction.atomic
    def revoke(self) -> int:
        """Deletes the links with their copies; returns how many."""
        rows = list(self.values_list("pk", "session__owner_id"))
        links = SharedLink.objects.filter(pk__in=[pk for pk, _ in rows])
        SharedFile.objects.filter(link__in=links).delete()
        links.delete()
        for owner_id in {owner for _, owner in rows}:
            Blob.objects.delete_unreferenced(owner_id)
        return len(rows)


def _stored(session: "Session", body: bytes) -> int:
    """The key of a blob with these bytes."""
    return next(iter(Blob.objects.store(session.owner_id, [body]).values()))


class SharedLink(models.Model):
    """A copy of a branch as it was when the link was made, and the token that opens it.

    The token is stored as it is, so that its owner can copy the link again: a hash would protect nothing,
    since the row leads to all that the token opens. Erasing the session erases its links.
    """

    public = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    session = models.ForeignKey("Session", on_delete=models.CASCADE, related_name="shared_links")
    token = models.CharField(max_length=64, unique=True, default=new_token, editable=False)
    content = models.ForeignKey(
        Blob, on_delete=models.PROTECT, related_name="+", help_text="A `sharing.snapshot.Snapshot` as JSON."
    )
    has_details = models.BooleanField(help_text="With tools and thoughts.")
    expires_at = models.DateTimeField(null=True, blank=True, help_text="Empty: never.")
    created_at = models.DateTimeField(auto_now_add=True)

    objects = SharedLinkQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return str(self.public)


class SharedFile(models.Model):
    """An attachment that its owner chose to share; `number` is its place in the snapshot, from 0 on."""

    link = models.ForeignKey(SharedLink, on_delete=models.CASCADE, related_name="files")
    number = models.PositiveSmallIntegerField()
    name = models.CharField(max_length=NAME_LENGTH, blank=True)
    mime = models.CharField(max_length=MIME_LENGTH)
    blob = models.ForeignKey(Blob, on_delete=models.PROTECT, related_name="+")

    class Meta:
        ordering = ["number"]
        constraints = [models.UniqueConstraint(fields=["link", "number"], name="shared_file_once")]

    def __str__(self) -> str:
        return f"{self.link} file {self.number}"
