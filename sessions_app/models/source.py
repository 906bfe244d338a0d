"""The sources of a session, and the manifest of an exchange, which refers to them."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.db import models
from pydantic import BaseModel

from sessions_app.models.blob import Blob
from sessions_app.prompt.layers import Layer
from sessions_app.prompt.payload import Item, Payload


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
    """The names and tokens of sources, by key: one query."""
    rows = Source.objects.filter(pk__in=keys).values_list("pk", "name", "tokens")
    return {pk: (name, tokens) for pk, name, tokens in rows}
