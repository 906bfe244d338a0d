"""What an answer rests on, as the provider tells it beside the parts of its response.

That are pages of a search and texts of a file store (`groundingMetadata`), pages that were retrieved
(`urlContextMetadata`) and texts that the answer quotes (`citationMetadata`). Places of the answer are told in
bytes of its UTF-8 text; here they end at a character, and one whose words stand elsewhere has none.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from sessions_app.prompt import wire

SOURCES, PLACES, QUERIES = 100, 400, 20
"""What is kept of an answer."""

WORDS, ADDRESS, SUGGESTIONS = 300, 4_000, 40_000
"""Characters of a title or a query, of an address, and of the HTML of the search suggestions."""

_KEYS = frozenset({"groundingMetadata", "urlContextMetadata", "citationMetadata"})

SourceKind = Literal["web", "file", "map", "page", "quoted"]


class CitationsModel(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class CitedSource(CitationsModel):
    """A source as it was named; `uri` may be any text."""

    kind: SourceKind = "web"
    title: Annotated[str, Field(max_length=WORDS)] = ""
    uri: Annotated[str, Field(max_length=ADDRESS)] = ""
    licence: Annotated[str, Field(max_length=WORDS)] = ""
    is_read: bool = True
    """False for a page that the provider could not retrieve."""
    status: Annotated[str, Field(max_length=WORDS)] = ""
    """The end of the `urlRetrievalStatus` of a page, in lower case; "" for a source of another kind."""


class CitedPlace(CitationsModel):
    """A place of the answer's text by the character behind it, with places in `Citations.sources`."""

    end: Annotated[int, Field(ge=0)]
    sources: Annotated[tuple[int, ...], Field(max_length=SOURCES)]


class Citations(CitationsModel):
    """Empty for an answer that names no source."""

    sources: Annotated[tuple[CitedSource, ...], Field(max_length=SOURCES)] = ()
    places: Annotated[tuple[CitedPlace, ...], Field(max_length=PLACES)] = ()
    queries: Annotated[tuple[Annotated[str, Field(max_length=WORDS)], ...], Field(max_length=QUERIES)] = ()
    """What the provider searched for."""
    suggestions: Annotated[str, Field(max_length=SUGGESTIONS)] = ""
    """HTML that its terms want shown, as it is, beside an answer that rests on a search."""

    def __bool__(self) -> bool:
        return bool(self.sources or self.queries or self.suggestions)

    def stored(self) -> dict[str, Any]:
        return self.model_dump(mode="json", exclude_defaults=True)

    @classmethod
    def restored(cls, stored: Any) -> "Citations":
        """Nothing where what is stored is of another shape."""
        try:
            return cls.model_validate(stored)
        except ValueError:
            return cls()


NO_CITATIONS = Citations()


class CitationFolder:
    """Takes the candidates of a response, or of the hops of one answer, in their order."""

    def __init__(self) -> None:
        self._groundings: list[dict[str, Any]] = [{}]
        self._pages: dict[str, str] = {}
        self._quotes: list[dict[str, Any]] = []
        self._searched: set[str] = set()

    @property
    def searches(self) -> int:
        """Queries that the provider counts: each once, empty ones not (its documentation of prices)."""
        return len(self._searched)

    def begin_hop(self) -> None:
        self._groundings.append({})

    def add(self, candidate: Mapping[str, Any]) -> None:
        if _KEYS.isdisjoint(candidate):
            return
        # Chunks repeat what is known so far, mostly `{}` before the last one.
        if grounding := _object(candidate, "groundingMetadata"):
            self._groundings[-1] |= grounding
            self._searched.update(_queries(grounding))
        for page in _objects(_object(candidate, "urlContextMetadata"), "urlMetadata"):
            self._pages[_text(page, "retrievedUrl", ADDRESS)] = _text(page, "urlRetrievalStatus", WORDS)
        quoted = _object(candidate, "citationMetadata")
        self._quotes += _objects(quoted, "citationSources") or _objects(quoted, "citations")

    def citations(self, text: str) -> Citations:
        """`text` is the whole text of the answer, without thoughts."""
        if not (any(self._groundings) or self._pages or self._quotes):
            return NO_CITATIONS
        found = _Found(text)
        for grounding in self._groundings:
            found.add_grounding(grounding)
        for uri, status in self._pages.items():
            found.add_page(uri, status.removeprefix("URL_RETRIEVAL_STATUS_").lower())
        for quote in self._quotes:
            found.add_quote(quote)
        return found.citations()


class _Found:
    """Sources without repetition, and the places by their ends."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._bytes = text.encode(errors="replace")
        self._sources: dict[tuple[str, str], int] = {}
        self._kept: list[CitedSource] = []
        self._places: dict[int, dict[int, None]] = {}
        self._queries: dict[str, None] = {}
        self._suggestions = ""

    def add(self, source: CitedSource) -> int | None:
        """The place of the source; None where there are too many, or it has neither name nor address."""
        key = ("", source.uri.rstrip("/")) if source.uri else (source.kind, source.title)
        if key in self._sources or not any(key) or len(self._kept) == SOURCES:
            return self._sources.get(key)
        self._kept.append(source)
        return self._sources.setdefault(key, len(self._kept) - 1)

    def add_page(self, uri: str, status: str) -> None:
        """A page that was to be retrieved; grounding may have named it before."""
        page = CitedSource(kind="page", uri=uri, is_read=status == "success", status=status)
        at = self.add(page)
        if at is not None and self._kept[at] is not page:
            known = self._kept[at]
            self._kept[at] = known.model_copy(update={"is_read": page.is_read, "status": status})

    def add_grounding(self, grounding: Mapping[str, Any]) -> None:
        sources = [self.add(_source(chunk)) for chunk in _objects(grounding, "groundingChunks")]
        for support in _objects(grounding, "groundingSupports"):
            segment, indices = _object(support, "segment"), support.get("groundingChunkIndices")
            named = [one for one in indices if _is_place(one, sources)] if isinstance(indices, list) else []
            self._mark(self._end(segment), (sources[one] for one in named))
        for query in _queries(grounding):
            self._queries[wire.well_formed(query).replace("\0", "")[:WORDS]] = None
        entry = _text(_object(grounding, "searchEntryPoint"), "renderedContent", SUGGESTIONS + 1)
        # Cut HTML would not be what the provider wants shown.
        self._suggestions = entry if entry and len(entry) <= SUGGESTIONS else self._suggestions

    def add_quote(self, quote: Mapping[str, Any]) -> None:
        title, uri = _text(quote, "title", WORDS), _text(quote, "uri", ADDRESS)
        source = CitedSource(kind="quoted", title=title, uri=uri, licence=_text(quote, "license", WORDS))
        self._mark(self._end(quote), [self.add(source)])

    def citations(self) -> Citations:
        places = sorted(self._places.items())[:PLACES]
        return Citations(
            sources=tuple(self._kept),
            places=tuple(CitedPlace(end=end, sources=tuple(sources)) for end, sources in places),
            queries=tuple(self._queries)[:QUERIES],
            suggestions=self._suggestions,
        )

    def _mark(self, end: int | None, sources: Iterable[int | None]) -> None:
        found = [source for source in sources if source is not None]
        if end is not None and found:
            self._places.setdefault(end, {}).update(dict.fromkeys(found))

    def _end(self, segment: Mapping[str, Any]) -> int | None:
        """Behind the segment in characters. Its words decide where the bytes say something else."""
        start, end, words = segment.get("startIndex", 0), segment.get("endIndex"), segment.get("text")
        if isinstance(start, int) and isinstance(end, int) and 0 <= start < end <= len(self._bytes):
            piece = self._bytes[start:end]
            if not isinstance(words, str) or piece == words.encode(errors="replace"):
                return _characters(self._bytes[:end])
        if isinstance(words, str) and words and self._text.count(words) == 1:
            return self._text.index(words) + len(words)
        return None


def _queries(grounding: Mapping[str, Any]) -> Iterator[str]:
    queries = grounding.get("webSearchQueries")
    for query in queries if isinstance(queries, list) else ():
        if isinstance(query, str) and query.strip():
            yield query


def may_cite(body: bytes) -> bool:
    """False for the JSON of a chunk that names no source; does not parse it. For migration 0048."""
    return any(b'"%b"' % key.encode() in body for key in _KEYS)


def _source(chunk: Mapping[str, Any]) -> CitedSource:
    kinds: tuple[tuple[str, SourceKind, str], ...] = (
        ("web", "web", "uri"),
        ("retrievedContext", "file", "uri"),
        ("maps", "map", "uri"),
        ("image", "web", "sourceUri"),
    )
    for key, kind, address in kinds:
        if found := _object(chunk, key):
            title = _text(found, "title", WORDS) or _text(found, "documentName", WORDS)
            if kind == "file":
                title = title or _text(found, "fileSearchStore", WORDS)
            return CitedSource(kind=kind, title=title, uri=_text(found, address, ADDRESS))
    return CitedSource()


def _characters(beginning: bytes) -> int | None:
    """None for bytes that end within a character."""
    try:
        return len(beginning.decode())
    except UnicodeDecodeError:
        return None


def _is_place(value: Any, values: list[int | None]) -> bool:
    return isinstance(value, int) and 0 <= value < len(values)


def _object(value: Mapping[str, Any], key: str) -> dict[str, Any]:
    found = value.get(key)
    return found if isinstance(found, dict) else {}


def _objects(value: Mapping[str, Any], key: str) -> list[dict[str, Any]]:
    return list(_dicts(value.get(key)))


def _dicts(found: Any) -> Iterator[dict[str, Any]]:
    for one in found if isinstance(found, list) else ():
        if isinstance(one, dict):
            yield one


def _text(value: Mapping[str, Any], key: str, limit: int) -> str:
    found = value.get(key)
    return wire.well_formed(found).replace("\0", "")[:limit].strip() if isinstance(found, str) else ""
