"""The sources that each request carried, read from the text of its manifest."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from django.db.models import QuerySet, TextField
from django.db.models.functions import Cast

from sessions_app.models import Exchange

_SOURCE = re.compile(r'\[(\d+), ?"')


# No slots: the cached property needs the instance dictionary.
@dataclass(frozen=True)
class ManifestSources:
    """The sources of one request, read from the text of its manifest, which is faster than parsing it."""

    pk: int
    number: int
    route: str
    manifest: str

    @cached_property
    def sources(self) -> tuple[int, ...]:
        """Primary keys of the sources in the order of the items."""
        return tuple(map(int, _SOURCE.findall(self.manifest)))

    @cached_property
    def _known(self) -> frozenset[int]:
        return frozenset(self.sources)

    def first_of(self, sources: set[int]) -> int | None:
        """The first of these among the items; None where there is none."""
        return next(iter(self.all_of(sources)), None)

    def all_of(self, sources: set[int]) -> list[int]:
        """Those of these among the items, in their order."""
        found = sources & self._known
        return sorted(found, key=self.sources.index) if len(found) > 1 else list(found)


def manifest_sources(exchanges: QuerySet[Exchange]) -> Iterator[ManifestSources]:
    """One query, by number."""
    rows = exchanges.order_by("number").annotate(text=Cast("manifest", TextField()))
    for row in rows.values_list("pk", "number", "route", "text"):
        yield ManifestSources(*row)
