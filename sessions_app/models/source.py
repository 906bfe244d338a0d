"""What was sent, source by source: the rows an exchange's manifest is made of."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from django.db import models
from pydantic import BaseModel

from sessions_app.models.blob import Blob
from sessions_app.prompt.layers import Layer
from sessions_app.prompt.payload import Item, Payload

if TYPE_CHECKING:
    from sessions_app.models.session import Session


class Source(models.Model):
    """One thing that was sent in a session: the same source with the same bytes is one row.

    An exchange's manifest names sources by key, so that sending a long history again costs a few
    numbers, and comparing two exchanges is comparing numbers.
    """

    session = models.ForeignKey("Session", on_delete=models.CASCADE, related_name="sources")
    name = models.CharField(max_length=120, help_text="template:static, panel:todos, turn:<id>, …")
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

    @classmethod
    def of(cls, session: "Session", item: Item, blob_id: int) -> "Source":
        """The row of an item, not yet saved."""
        return cls(
            session=session,
            name=item.source,
            role=item.role,
            kind=item.kind,
            blob_id=blob_id,
            tokens=item.tokens,
        )


class ManifestEntry(NamedTuple):
    """One item of a stored manifest, in the order of the wire."""

    source: int
    layer: str
    lead: str | None
    """The literal text between the previous item and this one; None when the cache stands for the item."""
    content: int | None
    part: int | None


class Manifest(BaseModel):
    """The JSON of `Exchange.manifest`: everything but the bytes, which are the sources' blobs."""

    entries: list[ManifestEntry] = []
    tail: str = ""


@dataclass(frozen=True, slots=True)
class SentItem:
    """A manifest entry joined with its source: what the inspector shows."""

    position: int
    layer: Layer
    source: Source
    wire: bytes
    content: int | None
    part: int | None
    is_cached: bool
    """The request names the cache instead of carrying the item."""


def manifest_of(keys: Sequence[int], payload: Payload) -> dict[str, Any]:
    """A `Manifest` as it is stored, of a payload whose items have these sources."""
    entries = [
        [key, item.layer.value, item.lead.decode() if item.is_sent else None, item.content, item.part]
        for key, item in zip(keys, payload.items, strict=True)
    ]
    return {"entries": entries, "tail": payload.tail.decode()}


def layer_tokens(items: Iterable[Item]) -> dict[str, int]:
    totals = {layer.value: 0 for layer in Layer}
    for item in items:
        totals[item.layer.value] += item.tokens
    return totals


def keep_sources(session: "Session", items: Sequence[Item]) -> list[int]:
    """Primary keys of the items' sources, in order; only what is new is written."""
    known = _source_keys(session, items)
    fresh = {_identity(item): item for item in items if _identity(item) not in known}
    if fresh:
        blobs = Blob.objects.keep(session.owner_id, (item.wire for item in fresh.values()))
        rows = Source.objects.bulk_create(
            Source.of(session, item, blobs[item.sha256]) for item in fresh.values()
        )
        known |= {identity: row.pk for identity, row in zip(fresh, rows, strict=True)}
    return [known[_identity(item)] for item in items]


def _identity(item: Item) -> tuple[str, str, str, str]:
    return (item.source, item.sha256, item.role, item.kind)


def _source_keys(session: "Session", items: Sequence[Item]) -> dict[tuple[str, str, str, str], int]:
    found = Source.objects.filter(session=session, blob__sha256__in={item.sha256 for item in items})
    return {
        (name, sha256, role, kind): pk
        for pk, name, sha256, role, kind in found.values_list("pk", "name", "blob__sha256", "role", "kind")
    }
