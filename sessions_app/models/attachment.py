"""Files that go with a message: images, PDF, audio, video. Text becomes a Reference instead."""

import uuid
from collections.abc import Collection, Iterable
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Self
from uuid import UUID

from django.db import models, transaction
from django.utils import timezone

from sessions_app.errors import RunError
from sessions_app.media import SHOWN
from sessions_app.models.blob import Blob, digest
from sessions_app.models.queued import QueuedMessage

if TYPE_CHECKING:
    from sessions_app.models.session import Session

NAME_LENGTH = 120
SPARE = timedelta(minutes=5)
"""A copy at the provider that lasts no longer than this is not relied upon: a run may take as long."""


class AttachmentQuerySet(models.QuerySet["Attachment"]):
    def in_composer(self, session: "Session") -> Self:
        """Those that belong to the message that is being written; what waits in the queue does not."""
        return self.filter(session=session, turn=None).exclude(_is_queued())

    @transaction.atomic
    def add(self, session: "Session", *, name: str, mime: str, body: bytes) -> "Attachment":
        blob_id = Blob.objects.keep(session.owner_id, [body])[digest(body)]
        return self.create(
            session=session, name=name[:NAME_LENGTH], mime=mime, size=len(body), blob_id=blob_id
        )

    @transaction.atomic
    def claim(self, session_pk: int, publics: Collection[UUID], message: UUID) -> None:
        """They go with this message now; when it is refused or taken back they are in the composer again.

        Raises RunError when one of them is not there to be sent.
        """
        free = self.filter(session_id=session_pk, public__in=publics, turn=None)
        mine = free.filter(models.Q(message=message) | ~_is_queued())
        if mine.update(message=message) != len(set(publics)):
            raise RunError("An attached file is not there any more.", hint="Attach it again.")

    def going_with(self, session_pk: int, message: UUID) -> "list[Attachment]":
        rows = self.filter(session_id=session_pk, message=message, turn=None)
        return list(rows.select_related("blob").order_by("pk"))

    @transaction.atomic
    def discard(self, doomed: Iterable["Attachment"], owner_id: int) -> None:
        """Deletes rows, and their bytes where nothing else holds the same."""
        rows = list(doomed)
        self.filter(pk__in=[row.pk for row in rows]).delete()
        Blob.objects.filter(pk__in=[row.blob_id for row in rows]).collect(owner_id)


def _is_queued() -> models.Exists:
    queue = QueuedMessage.objects.filter(
        session=models.OuterRef("session"), client_id=models.OuterRef("message")
    )
    return models.Exists(queue)


class Attachment(models.Model):
    """A file until the turn of its message holds it.

    What travels inside the request lives on as a part of the turn, and its row goes. A larger file's row
    stays: the turn names it, and its bytes are uploaded again when the provider's copy has expired.
    """

    public = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    session = models.ForeignKey("Session", on_delete=models.CASCADE, related_name="attachments")
    name = models.CharField(max_length=NAME_LENGTH)
    mime = models.CharField(max_length=60, help_text="By content, not by name.")
    size = models.PositiveIntegerField(help_text="Bytes.")
    blob = models.ForeignKey(Blob, on_delete=models.PROTECT, related_name="+")
    message = models.UUIDField(
        null=True, blank=True, help_text="Client id of the message it goes with; empty in the composer."
    )
    turn = models.ForeignKey(
        "Turn", null=True, blank=True, on_delete=models.SET_NULL, related_name="attachments"
    )
    uri = models.CharField(max_length=300, blank=True, help_text="Where the provider keeps its copy.")
    route = models.CharField(max_length=64, blank=True, help_text="The door that the copy was sent through.")
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
        """Whether a page can show it small."""
        return self.mime in SHOWN

    def is_at(self, route: str) -> bool:
        """Whether the provider behind this door still has its copy."""
        lasts = self.expires_at is None or self.expires_at > timezone.now() + SPARE
        return bool(self.uri) and self.route == route and lasts

    def place(self, uri: str, route: str, expires: datetime | None) -> None:
        """The provider keeps a copy now."""
        self.uri, self.route, self.expires_at = uri, route, expires
        self.save(update_fields=["uri", "route", "expires_at"])
