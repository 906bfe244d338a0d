"""The rows of a session as plain dictionaries of columns."""

import json
import zlib
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sessions_app.models import (
    Blob,
    BlobSlice,
    CapturedRequest,
    Exchange,
    ModelFacts,
    Price,
    RawChunk,
    Run,
    Source,
    Turn,
)

Row = Mapping[str, Any]
"""Columns of one row, by name."""


@dataclass(frozen=True, slots=True)
class StoredItem:
    """One item of a manifest with its bytes. `lead` is what stands before it on the wire, None when the named
    cache holds it; `source` is the key of its source.
    """

    source: int
    name: str
    role: str
    kind: str
    layer: str
    lead: str | None
    body: bytes
    tokens: int


# No slots here: the cached properties need the instance dictionary.
@dataclass(frozen=True)
class SessionRows:
    """What is stored of one session, in a number of queries that does not depend on its length."""

    session_id: int

    @cached_property
    def exchanges(self) -> list[Row]:
        return list(Exchange.objects.filter(session=self.session_id).order_by("number").values())

    @cached_property
    def numbers(self) -> dict[int, Row]:
        """Exchanges by primary key."""
        return {row["id"]: row for row in self.exchanges}

    @cached_property
    def prices(self) -> dict[int, Row]:
        return {row["id"]: row for row in Price.objects.values()}

    @cached_property
    def runs(self) -> dict[int, Row]:
        listed = Run.objects.filter(session=self.session_id)
        return {row["id"]: row for row in listed.values("id", "status", "trigger_id")}

    @cached_property
    def turns(self) -> dict[int, Row]:
        """The tree, without contents."""
        listed = Turn.objects.filter(session=self.session_id).order_by()
        return {row["id"]: row for row in listed.values("id", "parent_id", "origin_id", "exchange_id", "cut")}

    @cached_property
    def model_facts(self) -> list[Row]:
        """A family's before a model's own, the longer name later: the last one that applies holds."""
        return sorted(ModelFacts.objects.values(), key=lambda row: (not row["is_family"], len(row["model"])))

    @cached_property
    def sources(self) -> dict[int, Row]:
        return {row["id"]: row for row in Source.objects.filter(session=self.session_id).values()}

    def items(self, exchange: Row) -> list[StoredItem]:
        entries: list[list[Any]] = exchange["manifest"].get("entries", [])
        return [self._item(key, layer, lead) for key, layer, lead, *_ in entries]

    def body(self, exchange: Row) -> bytes:
        """The request, joined from its sources; what stands beside the prompt is at a place of its own."""
        manifest = exchange["manifest"]
        pieces: list[tuple[int, str, int]] = [
            (start[0] if start else at, lead, key)
            for at, (key, _, lead, _, _, *start) in enumerate(manifest.get("entries", []))
            if lead is not None
        ]
        pieces += [(one["start"], one["lead"], one["source"]) for one in manifest.get("beside", [])]
        sent = (lead.encode() + self._bodies[self.sources[key]["blob_id"]] for _, lead, key in sorted(pieces))
        return b"".join(sent) + str(manifest.get("tail", "")).encode()

    def settings(self, exchange: Row) -> dict[str, Any]:
        """What the body says beside the prompt, by its name in camelCase."""
        manifest = exchange["manifest"]
        if "beside" not in manifest:
            tail = manifest.get("tail", "")
            said: dict[str, Any] = json.loads('{"contents":[' + tail) if tail else {}
            return {name: value for name, value in said.items() if name != "contents"}
        found = {}
        for source in (self.sources[one["source"]] for one in manifest["beside"]):
            first, *rest = source["name"].partition(":")[2].split("_")
            name = first + "".join(word[:1].upper() + word[1:] for word in rest)
            found[name] = json.loads(self._bodies[source["blob_id"]])
        return found

    @cached_property
    def captured(self) -> dict[int, Row]:
        """By exchange, where its request stands among those of its program; empty for a chat."""
        listed = CapturedRequest.objects.filter(exchange__session=self.session_id)
        columns = "exchange_id", "public", "lane", "before", "fault", "is_cut", "uses_server_key", "status"
        return {row["exchange_id"]: row for row in listed.values(*columns, "response_size")}

    def _item(self, key: int, layer: str, lead: str | None) -> StoredItem:
        source = self.sources[key]
        body = self._bodies[source["blob_id"]]
        columns = source["name"], source["role"], source["kind"]
        return StoredItem(key, *columns, layer, lead, body, source["tokens"])

    def chunks(self, exchange: Row) -> Iterator[bytes]:
        rows = RawChunk.objects.filter(exchange=exchange["id"]).order_by("seq")
        yield from (bytes(body) for body in rows.values_list("body", flat=True))

    @cached_property
    def _bodies(self) -> Mapping[int, bytes]:
        keys = {row["blob_id"] for row in self.sources.values()}
        slices: dict[int, list[bytes]] = defaultdict(list)
        pieces = BlobSlice.objects.filter(blob__in=keys).order_by("blob", "number")
        for blob, body in pieces.values_list("blob", "body"):
            slices[blob].append(bytes(body))
        rows = Blob.objects.filter(pk__in=keys).values_list("pk", "packed", "body")
        whole = {pk: zlib.decompress(body) if packed else bytes(body) for pk, packed, body in rows}
        return whole | {blob: b"".join(parts) for blob, parts in slices.items()}
