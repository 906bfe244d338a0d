"""The sources of an answer as the pages show them: numbered, and linked where an address can be opened."""

from dataclasses import dataclass
from typing import Self
from urllib.parse import quote, quote_plus, urlsplit

from sessions_app.markup import Mark
from sessions_app.prompt.citations import Citations, CitedSource
from sessions_app.wording import citations as wording

SEARCH = "https://www.google.com/search?q="
"""Where the provider's own suggestions lead as well."""

SHOWN_ADDRESS = 80
"""Characters of an address that cannot be opened."""


@dataclass(frozen=True, slots=True)
class ShownSource:
    """`address` is empty where there is none that a browser may open."""

    number: int
    title: str
    address: str
    details: tuple[str, ...]

    @classmethod
    def of(cls, number: int, source: CitedSource) -> Self:
        address, host = _opened(source.uri)
        title = source.title or (address if source.kind == "page" else host) or wording.unnamed(source.kind)
        details = (
            host if host not in title else "",
            "" if address else source.uri[:SHOWN_ADDRESS],
            *wording.details(
                is_quoted=source.kind == "quoted",
                licence=source.licence,
                is_read=source.is_read,
                status=source.status,
            ),
        )
        return cls(number, title, address, tuple(filter(None, details)))


@dataclass(frozen=True, slots=True)
class ShownCitations:
    """`scope` begins the ids of the sources; `queries` have the addresses of their searches. The HTML of the
    provider's suggestions (`has_suggestions`) has a page of its own.
    """

    scope: str
    sources: tuple[ShownSource, ...]
    queries: tuple[tuple[str, str], ...]
    has_suggestions: bool = False

    @classmethod
    def of(cls, citations: Citations, scope: str) -> Self:
        return cls(
            scope=scope,
            sources=tuple(ShownSource.of(number, one) for number, one in enumerate(citations.sources, 1)),
            queries=tuple((query, SEARCH + quote_plus(query)) for query in citations.queries),
            has_suggestions=bool(citations.suggestions),
        )


def marks_of(citations: Citations) -> list[Mark]:
    """Where the text has the numbers of its sources."""
    count = len(citations.sources)
    places = sorted(citations.places, key=lambda place: place.end)
    numbers = ((place.end, [one + 1 for one in place.sources if 0 <= one < count]) for place in places)
    return [(end, sources) for end, sources in numbers if sources]


def _opened(uri: str) -> tuple[str, str]:
    """The address and its host; empty for one that is not of the web."""
    try:
        parts = urlsplit(uri)
        host = parts.hostname or ""
    except ValueError:
        return "", ""
    if parts.scheme not in ("http", "https") or not host:
        return "", ""
    # Recorded addresses hold spaces.
    return quote(uri, safe="%/:=&?~#+!$,;'@()*[]"), host
