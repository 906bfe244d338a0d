"""Files that go with a message: images, PDF, audio, video. Text becomes a Reference instead."""

import uuid
from collections.abc import Collection, Iterable
from datetime import datetime, timedelta
from typing import IO, TYPE_CHECKING, Self
from uuid import UUID

from django.db import models, transaction
from django.utils import timezone

from sessions_app.errors import RunError
from sessions_app.media import INLINE_IMAGES
from sessions_app.models.blob import Blob
from sessions_app.models.blob_slice import SLICE, BlobSlice, digest_of, pieces
from sessions_app.models.run import QueuedMessage

if TYPE_CHECKING:
    from sessions_app.models.session import Session

NAME_LENGTH = 120
MIME_LENGTH = 60
EXPIRY_MARGIN = timedelta(minutes=5)
"""A copy at the provider that expires sooner is uploaded again: a run may take this long."""


class AttachmentQuerySet(models.QuerySet["Attachment"]):
    def named_in(self, session: "Session", keys: Collection[str]) -> Self:
        """Those with these public ids of the session's owner: a fork and an import name files of another
        session of the same person."""
        return self.filter(session__owner_id=session.owner_id, public__in=keys)

    def in_composer(self, session: "Session") -> Self:
        """Those of the message being written; not those of queued messages."""
        return self.filter(session=session, turn=None).exclude(_is_queued())

    def add(self, session: "Session", *, name: str, mime: str, file: IO[bytes]) -> "Attachment":
        """Stores a file. Raises RunError when the same bytes are being removed elsewhere at this moment.

        A large one is written in slices before the transaction that makes the row.
        """
        owner_id, written = session.owner_id, None
        sha256, size = digest_of(file)
        is_large = size > SLICE
        if is_large and not Blob.objects.filter(owner_id=owner_id, sha256=sha256).exists():
            written = BlobSlice.objects.write(owner_id, file, size)
        with transaction.atomic():
            if is_large:
                blob_id = Blob.objects.complete(owner_id, sha256, written)
            else:
                blob_id = Blob.objects.store(owner_id, pieces(file)).get(sha256)
            if blob_id is None:
                raise RunError(f"“{name}” could not be stored.", hint="Attach it again.")
            return self.create(
                session=session, name=name[:NAME_LENGTH], mime=mime, size=size, blob_id=blob_id
            )

    @transaction.atomic
    def claim(self, session_pk: int, publics: Collection[UUID], message: UUID) -> None:
        """Assigns the files to a message. Raises RunError when one is missing or belongs to a queued message.

        If the message is refused or withdrawn, they are in the composer again.
        """
        free = self.filter(session_id=session_pk, public__in=publics, turn=None)
        claimable = free.filter(models.Q(message=message) | ~_is_queued())
        if claimable.update(message=message) != len(set(publics)):
            raise RunError("An attached file is not there any more.", hint="Attach it again.")

    def of_message(self, session_pk: int, message: UUID) -> "list[Attachment]":
        rows = self.filter(session_id=session_pk, message=message, turn=None)
        return list(rows.select_related("blob").order_by("pk"))

    @transaction.atomic
    def discard(self, attachments: Iterable["Attachment"], owner_id: int) -> None:
        """Deletes the rows, and their blobs unless another row references them."""
        rows = list(attachments)
        self.filter(pk__in=[row.pk for row in rows]).delete()
        Blob.objects.filter(pk__in=[row.blob_id for row in rows]).delete_unreferenced(owner_id)


def _is_queued() -> models.Exists:
    queue = QueuedMessage.objects.filter(
        session=models.OuterRef("session"), client_id=models.OuterRef("message")
    )
    return models.Exists(queue)


class Attachment(models.Model):
    """A file until the turn of its message holds it.

    A file sent inline becomes a part of the turn, and its row is deleted. The row of a larger file stays:
    the turn names it, and its bytes are uploaded again when the provider's copy has expired.
    """

    public = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    session = models.ForeignKey("Session", on_delete=models.CASCADE, related_name="attachments")
    name = models.CharField(max_length=NAME_LENGTH)
    mime = models.CharField(max_length=MIME_LENGTH, help_text="By content, not by name.")
    size = models.PositiveIntegerField(help_text="Bytes.")
    blob = models.ForeignKey(Blob, on_delete=models.PROTECT, related_name="+")
    message = models.UUIDField(
        null=True, blank=True, help_text="Client id of the message it goes with; empty in the composer."
    )
    turn = models.ForeignKey(
        "Turn", null=True, blank=True, on_delete=models.SET_NULL, related_name="attachments"
    )
    uri = models.CharField(max_length=300, blank=True, help_text="Where the provider keeps its copy.")
    route = models.CharField(max_length=64, blank=True, help_text="The host and API key that keep the copy.")
    expires_at = models.DateTimeField(null=True, blank=True, help_text="When the provider's copy goes.")
    created_at = models.DateTimeField(auto_now_add=True)

    objects = AttachmentQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]
        indexes = [models.Index(fields=["session", "message"], name="attachment_of_message")]

    def __str__(self) -> str:
        return str(self.public)

    @property
    def is_picture(self) -> bool:
        """Whether a page can show a thumbnail."""
        return self.mime in INLINE_IMAGES

    def has_copy_at(self, route: str) -> bool:
        """Whether the provider of this route has a copy that lasts at least `EXPIRY_MARGIN`."""
        lasts = self.expires_at is None or self.expires_at > timezone.now() + EXPIRY_MARGIN
        return bool(self.uri) and self.route == route and lasts

    def set_copy(self, uri: str, route: str, expires: datetime | None) -> None:
        self.uri, self.route, self.expires_at = uri, route, expires
        self.save(update_fields=["uri", "route", "expires_at"])
