"""Bytes stored once: what was sent, and what the turns are made of."""

import hashlib
import zlib
from collections.abc import Iterable
from typing import Self

from django.conf import settings
from django.db import models
from django.db.models import Exists, OuterRef

WORTH_PACKING = 512
"""Bytes; below that zlib saves nothing that the row's own overhead does not eat."""


def digest(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()


def unpacked(body: bytes, packed: bool) -> bytes:
    return zlib.decompress(body) if packed else body


class BlobQuerySet(models.QuerySet["Blob"]):
    def keep(self, owner_id: int, bodies: Iterable[bytes]) -> dict[str, int]:
        """Stores each distinct body once for this owner; answers sha256 → primary key.

        One statement: what is there already answers its key, also when another process was faster.
        """
        distinct = {digest(body): body for body in bodies}
        kept = self.bulk_create(
            [Blob.of(owner_id, sha, body) for sha, body in distinct.items()],
            update_conflicts=True,
            unique_fields=["owner", "sha256"],
            update_fields=["size"],
        )
        return {blob.sha256: blob.pk for blob in kept}

    def collect(self, owner_id: int) -> int:
        """Deletes this owner's blobs that no row points at any more; answers how many."""
        from sessions_app.models import Attachment, HistoryChunk, Source, Turn

        loose = self.filter(owner_id=owner_id).exclude(
            Exists(Turn.objects.filter(content=OuterRef("pk")))
            | Exists(Source.objects.filter(blob=OuterRef("pk")))
            | Exists(HistoryChunk.objects.filter(content=OuterRef("pk")))
            | Exists(Attachment.objects.filter(blob=OuterRef("pk")))
        )
        return loose._raw_delete(loose.db)


class Blob(models.Model):
    """sha256 → bytes, deduplicated per owner so that erasing a person erases every byte of theirs."""

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="blobs")
    sha256 = models.CharField(max_length=64)
    size = models.PositiveIntegerField(help_text="Bytes before packing.")
    packed = models.BooleanField(default=False, help_text="True when `body` is zlib.")
    body = models.BinaryField()

    objects = BlobQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["owner", "sha256"], name="blob_once_per_owner")]

    def __str__(self) -> str:
        return f"{self.sha256[:12]} ({self.size} bytes)"

    @classmethod
    def of(cls, owner_id: int, sha256: str, body: bytes) -> Self:
        packed = len(body) >= WORTH_PACKING
        return cls(
            owner_id=owner_id,
            sha256=sha256,
            size=len(body),
            packed=packed,
            body=zlib.compress(body, 1) if packed else body,
        )

    @property
    def bytes(self) -> bytes:
        return unpacked(bytes(self.body), self.packed)
