"""Which sources many requests carried, without reading a single body.

A thousand manifests are megabytes of JSON, most of it punctuation between items. The keys of the
sources are found by their shape instead; nothing a person writes stands in a manifest, so the shape
cannot be forged. `tests/inspector/test_manifests.py` holds this to the parsed manifest.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from django.db.models import QuerySet, TextField
from django.db.models.functions import Cast

from sessions_app.models import Exchange

_SOURCE = re.compile(r'\[(\d+), ?"')
_REST = r', ?"\w+", ?(?:"(?:[^"\\]|\\.)*"|null), ?(\d+|null)'


# No slots: the cached property needs the instance dictionary.
@dataclass(frozen=True)
class Carrier:
    """One request; `manifest` is its stored JSON."""

    pk: int
    number: int
    route: str
    manifest: str

    @cached_property
    def sources(self) -> tuple[int, ...]:
        """The keys of its sources in the order of its items."""
        return tuple(map(int, _SOURCE.findall(self.manifest)))

    def content_of(self, source: int) -> int | None:
        """The place of a source among the contents; None when a cache stands for it."""
        found = re.search(rf"\[{source}{_REST}", self.manifest)
        return None if found is None or found[1] == "null" else int(found[1])


def carriers(exchanges: QuerySet[Exchange]) -> Iterator[Carrier]:
    """One query, by number."""
    rows = exchanges.order_by("number").annotate(text=Cast("manifest", TextField()))
    for pk, number, route, text in rows.values_list("pk", "number", "route", "text"):
        yield Carrier(pk, number, route, text)
