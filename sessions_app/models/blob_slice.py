"""Large blobs, whose bytes are rows of their own: written one by one, so that no other writer waits long."""

import hashlib
import time
import uuid
from collections.abc import Callable, Iterator
from functools import partial
from typing import IO

from django.db import models

from sessions_app.models.blob import Blob

SLICE = 512 * 1024
"""Bytes of one row and of one transaction. A smaller blob is one row as always."""

INCOMPLETE = "incomplete:"
"""In place of the hash while slices are being written; the time follows."""

ABANDONED = 3600
"""Seconds after which a blob that was never completed is deleted."""


def at_once(write: Callable[[], object]) -> None:
    write()


class BlobSliceQuerySet(models.QuerySet["BlobSlice"]):
    def write(
        self,
        owner_id: int,
        file: IO[bytes],
        size: int,
        commit: Callable[[Callable[[], object]], None] = at_once,
    ) -> int:
        """Stores the bytes of a file in a blob that nothing finds until `complete`; returns its key.

        `commit` is called with the writing of each slice. Must not run in a transaction.
        """
        delete_abandoned(owner_id)
        name = f"{INCOMPLETE}{int(time.time())}:{uuid.uuid4().hex}"
        blob = Blob.objects.create(owner_id=owner_id, sha256=name, size=size, body=b"")
        for number, piece in enumerate(pieces(file)):
            commit(partial(self.create, blob=blob, number=number, body=piece))
        return blob.pk

    def bytes_of(self, blob_id: int) -> bytes:
        return b"".join(map(bytes, self.filter(blob=blob_id).values_list("body", flat=True)))


class BlobSlice(models.Model):
    blob = models.ForeignKey(Blob, on_delete=models.CASCADE, related_name="slices")
    number = models.PositiveIntegerField()
    body = models.BinaryField()

    objects = BlobSliceQuerySet.as_manager()

    class Meta:
        ordering = ["number"]
        constraints = [models.UniqueConstraint(fields=["blob", "number"], name="slice_once")]

    def __str__(self) -> str:
        return f"{self.blob_id}:{self.number}"


def pieces(file: IO[bytes]) -> Iterator[bytes]:
    file.seek(0)
    while piece := file.read(SLICE):
        yield piece


def digest_of(file: IO[bytes]) -> tuple[str, int]:
    """sha256 and size, without the whole file in memory."""
    found, size = hashlib.sha256(), 0
    for piece in pieces(file):
        found.update(piece)
        size += len(piece)
    return found.hexdigest(), size


def delete_abandoned(owner_id: int) -> None:
    """Deletes what uploads left that ended with their process."""
    for blob in Blob.objects.filter(owner_id=owner_id, sha256__startswith=INCOMPLETE).defer("body"):
        began = int(blob.sha256.split(":")[1])
        if began < time.time() - ABANDONED:
            blob.delete()
