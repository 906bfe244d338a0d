"""Blobs, and the sources that an exchange's manifest refers to."""

import hashlib
import zlib
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

from django.conf import settings
from django.contrib.auth import get_user_model
from django.db import models
from django.db.models import Exists, OuterRef, Q
from pydantic import BaseModel

from sessions_app.models.prepared import insert_values
from sessions_app.prompt.layers import Layer
from sessions_app.prompt.payload import Item, Payload

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
        get_user_model().objects.select_for_update(no_key=True).filter(pk=owner_id).values_list("pk").first()
        known = self.filter(owner_id=owner_id, sha256=sha256).values_list("pk", flat=True).first()
        if written is not None and known is None:
            self.filter(pk=written).update(sha256=sha256)
        elif written is not None:
            self.filter(pk=written).delete()
        return known or written

    def delete_unreferenced(self, owner_id: int) -> int:
        """Deletes the owner's blobs that no row references; returns how many."""
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


class Source(models.Model):
    """One source sent in a session; the same source with the same bytes is one row.

    Manifests refer to sources by key, so two exchanges are compared by numbers.
    """

    session = models.ForeignKey("Session", on_delete=models.CASCADE, related_name="sources", db_index=False)
    name = models.CharField(max_length=600, help_text="template:static, panel:todos, turn:<id>, …")
    role = models.CharField(max_length=12, blank=True)
    kind = models.CharField(max_length=20)
    blob = models.ForeignKey(Blob, on_delete=models.PROTECT, related_name="+")
    tokens = models.PositiveIntegerField(help_text="Estimated; the provider reports only totals.")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["session", "name", "blob", "role", "kind"], name="source_once_per_session"
            )
        ]

    def __str__(self) -> str:
        return self.name


class ManifestEntry(NamedTuple):
    """One item of a stored manifest, in reading order: tools, system instruction, contents."""

    source: int
    layer: str
    lead: str | None
    """The literal text before the item in the body; None when the cache stands for the item."""
    content: int | None
    part: int | None
    start: int | None = None
    """Where its bytes begin in the body; None in a manifest whose items stand there in reading order."""


class BesideEntry(BaseModel):
    """A member of a captured body that is no part of the prompt, such as the configuration."""

    source: int
    lead: str
    start: int


class Manifest(BaseModel):
    """The JSON of `Exchange.manifest`; the bytes are in the sources' blobs.

    `settings` is the generation configuration of a captured request; that of our own is in the tail.
    """

    entries: list[ManifestEntry] = []
    beside: list[BesideEntry] = []
    settings: Any = None
    tail: str = ""

    def joined(self, wires: Sequence[bytes], beside: Sequence[bytes]) -> bytes:
        """The body, from the bytes of the entries and of what stands beside them."""
        sent = [(self.entries[at].lead, wires[at]) for at in on_the_wire(self.entries)]
        if beside:
            placed = [(one.start, one.lead, wire) for one, wire in zip(self.beside, beside, strict=True)]
            placed += [
                (entry.start or 0, entry.lead, wire)
                for entry, wire in zip(self.entries, wires, strict=True)
                if entry.lead is not None
            ]
            sent = [(lead, wire) for _, lead, wire in sorted(placed, key=lambda one: one[0])]
        pieces = [piece for lead, wire in sent for piece in ((lead or "").encode(), wire)]
        return b"".join(pieces) + self.tail.encode()


@dataclass(frozen=True, slots=True)
class SentItem:
    """A manifest entry joined with its source."""

    position: int
    layer: Layer
    source: Source
    wire: bytes
    content: int | None
    part: int | None
    is_cached: bool
    """The request names the cache instead of carrying the item."""


def manifest_of(keys: Sequence[int], payload: Payload) -> dict[str, Any]:
    """The stored `Manifest` of a payload; `keys` are those of its items' sources."""
    starts = [item.start for item in payload.items if item.start is not None]
    is_in_order = starts == sorted(starts)
    entries = [
        [key, str(item.layer), item.lead.decode() if item.is_sent else None, item.content, item.part]
        + ([] if is_in_order else [item.start])
        for key, item in zip(keys, payload.items, strict=True)
    ]
    return {"entries": entries, "tail": payload.tail.decode()}


def on_the_wire(entries: Sequence[ManifestEntry]) -> list[int]:
    """Positions of the entries that were sent, in the order of the body."""
    sent = [at for at, entry in enumerate(entries) if entry.lead is not None]
    return sorted(sent, key=lambda at: entries[at].start or 0)


def body_starts(entries: Sequence[ManifestEntry], sizes: Sequence[int]) -> list[int | None]:
    """Where the bytes of each item begin in the body; None for an item that a named cache holds."""
    starts: list[int | None] = [entry.start for entry in entries]
    if any(start is not None for start in starts):
        return starts
    end = 0
    for at in on_the_wire(entries):
        start = end + len((entries[at].lead or "").encode())
        starts[at], end = start, start + sizes[at]
    return starts


def layer_tokens(items: Iterable[Item]) -> dict[str, int]:
    totals = {layer.value: 0 for layer in Layer}
    for item in items:
        totals[item.layer] += item.tokens
    return totals


def names_and_tokens(keys: Collection[int]) -> dict[int, tuple[str, int]]:
    """Of sources, by key: one query."""
    rows = Source.objects.filter(pk__in=keys).values_list("pk", "name", "tokens")
    return {pk: (name, tokens) for pk, name, tokens in rows}
