"""Blobs: bytes of a person, each stored once."""

import hashlib
import zlib
from collections.abc import Iterable, Sequence
from typing import NamedTuple, Self

from django.conf import settings
from django.db import connections, models, transaction
from django.db.models import Exists, OuterRef, Q

from sessions_app.models.personal_limits import lock_person
from sessions_app.models.prepared import insert_values

WORTH_PACKING = range(512, 1_000_000)
"""Bytes; compressing less saves nothing. More takes long with the write lock held, and is mostly media."""


def digest(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()


def unpacked(body: bytes, packed: bool) -> bytes:
    return zlib.decompress(body) if packed else body


class PackedBlob(NamedTuple):
    """The columns of a blob that is not stored yet; `owner` is a key, `size` that of the unpacked bytes."""

    owner: int
    sha256: str
    size: int
    packed: bool
    body: bytes

    @classmethod
    def of(cls, owner: int, sha256: str, body: bytes) -> Self:
        packed = len(body) in WORTH_PACKING
        return cls(owner, sha256, len(body), packed, zlib.compress(body, 1) if packed else body)


class BlobQuerySet(models.QuerySet["Blob"]):
    def store(self, owner_id: int, bodies: Iterable[bytes]) -> dict[str, int]:
        """Stores each distinct body once per owner, in one statement. Returns sha256 → primary key."""
        distinct = {digest(body): body for body in bodies}
        return self.store_packed([PackedBlob.of(owner_id, sha, body) for sha, body in distinct.items()])

    def store_packed(self, blobs: "Sequence[PackedBlob]") -> dict[str, int]:
        """The same for bodies that were packed outside of the transaction, each of which is there once."""
        keys = insert_values(Blob, PackedBlob._fields, blobs, unique=("owner", "sha256"), updated=("size",))
        return {blob.sha256: key for blob, key in zip(blobs, keys, strict=True)}

    def complete(self, owner_id: int, sha256: str, written: int | None) -> int | None:
        """Names the blob that `BlobSlice.objects.write` made, or deletes it where another has its bytes.

        Returns the key of the blob with these bytes; None when there is none. Must run in a transaction.
        """
        # One at a time per owner: the same file may arrive twice at once.
        lock_person(owner_id)
        same = self.filter(owner_id=owner_id, sha256=sha256).select_for_update(no_key=True)
        known = same.values_list("pk", flat=True).first()
        if written is not None and known is None:
            self.filter(pk=written).update(sha256=sha256)
        elif written is not None:
            self.filter(pk=written).delete()
        return known or written

    @transaction.atomic(savepoint=False)
    def delete_unreferenced(self, owner_id: int) -> int:
        """Deletes the owner's blobs that no row references; returns how many.

        Of two transactions, the one that stores bytes again is not seen by the one that deletes them. On
        PostgreSQL, what another one has locked stays, and what is locked here is looked at once more.
        """
        from sessions_app.models import (
            Attachment,
            BlobSlice,
            CapturedRequest,
            ExchangeAttempt,
            FileChange,
            HistoryChunk,
            SharedFile,
            SharedLink,
            Source,
            Turn,
        )
        from sessions_app.models.blob_slice import INCOMPLETE

        unreferenced = self.filter(owner_id=owner_id).exclude(
            Q(sha256__startswith=INCOMPLETE)
            | Exists(Turn.objects.filter(content=OuterRef("pk")))
            | Exists(Source.objects.filter(blob=OuterRef("pk")))
            | Exists(HistoryChunk.objects.filter(content=OuterRef("pk")))
            | Exists(Attachment.objects.filter(blob=OuterRef("pk")))
            | Exists(ExchangeAttempt.objects.filter(body=OuterRef("pk")))
            | Exists(FileChange.objects.filter(before=OuterRef("pk")))
            | Exists(CapturedRequest.objects.filter(request_body=OuterRef("pk")))
            | Exists(CapturedRequest.objects.filter(response_body=OuterRef("pk")))
            | Exists(SharedLink.objects.filter(content=OuterRef("pk")))
            | Exists(SharedFile.objects.filter(blob=OuterRef("pk")))
        )
        if connections[self.db].features.has_select_for_update:
            free = unreferenced.select_for_update(of=("self",), skip_locked=True)
            if not (keys := list(free.values_list("pk", flat=True))):
                return 0
            unreferenced = unreferenced.filter(pk__in=keys)
        slices = BlobSlice.objects.filter(blob__in=unreferenced)
        slices._raw_delete(slices.db)
        return unreferenced._raw_delete(unreferenced.db)


class Blob(models.Model):
    """sha256 → bytes, deduplicated per owner so that erasing a person erases every byte of theirs."""

    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="blobs", db_index=False
    )
    sha256 = models.CharField(max_length=64)
    size = models.PositiveIntegerField(help_text="Bytes before packing.")
    packed = models.BooleanField(default=False, help_text="True when `body` is zlib.")
    body = models.BinaryField()

    objects = BlobQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["owner", "sha256"], name="blob_once_per_owner")]

    def __str__(self) -> str:
        return f"{self.sha256[:12]} ({self.size} bytes)"

    @property
    def is_sliced(self) -> bool:
        """Whether the bytes are in the rows of `slices`."""
        return bool(self.size) and not len(self.body)

    @property
    def bytes(self) -> bytes:
        if self.is_sliced:
            return self.slices.bytes_of(self.pk)
        return unpacked(bytes(self.body), self.packed)
