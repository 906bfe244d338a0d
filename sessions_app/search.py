"""Search in message text: the database finds candidates, this module ranks and highlights them.

Ranking is done here, so that both databases give the same results. Words match as prefixes, quoted
words as phrases. Scripts without spaces are found by a substring scan of the user's own turns.
PostgreSQL indexes the first 200,000 characters.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from math import log
from typing import Self

from django.contrib.auth.models import AnonymousUser, User
from django.db import connections
from django.db.models import QuerySet
from django.db.models.expressions import RawSQL
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from sessions_app.fulltext import VECTOR
from sessions_app.markup import plain
from sessions_app.models import Session, Turn

CANDIDATES = 300
"""Newest matching turns that are ranked."""

HITS = 30
TITLES = 8
EXCERPT = 220
TERM_LIMIT = 12

_QUERY = re.compile(r'["“”„]([^"“”„]*)["“”„]?|([^\s"“”„]+)')
_WORDS = re.compile(r"[^\W_]+")
# Chinese, Japanese, Korean, Thai, Lao, Khmer, Burmese: no spaces between words.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]"
)

SQLITE_QUERY = "SELECT rowid FROM sessions_app_turn_words WHERE sessions_app_turn_words MATCH %s"
_VECTOR = VECTOR.replace("%", "%%")  # escaped for a query with parameters
POSTGRESQL_QUERY = f"SELECT id FROM sessions_app_turn WHERE {_VECTOR} @@ to_tsquery('simple', %s)"  # noqa: S608 - constants


@dataclass(frozen=True, slots=True)
class QueryTerm:
    """One word or a phrase; the last word is a prefix unless quoted."""

    words: tuple[str, ...]
    is_quoted: bool = False

    @property
    def is_unspaced(self) -> bool:
        return any(_UNSPACED.search(word) for word in self.words)

    @property
    def pattern(self) -> str:
        text = r"[\W_]+".join(map(re.escape, self.words))
        if self.is_unspaced:
            return text
        return rf"(?<![^\W_]){text}" + (r"(?![^\W_])" if self.is_quoted else "")


@dataclass(frozen=True, slots=True)
class Query:
    terms: tuple[QueryTerm, ...]

    @classmethod
    def of(cls, text: str) -> Self:
        """Parses any text; punctuation without words is ignored."""
        terms = (_term(match) for match in _QUERY.finditer(text))
        return cls(tuple(term for term in terms if term.words)[:TERM_LIMIT])

    @property
    def highlight(self) -> re.Pattern[str]:
        return re.compile("|".join(f"(?:{term.pattern})" for term in self.terms), re.IGNORECASE)

    @property
    def patterns(self) -> list[re.Pattern[str]]:
        return [re.compile(term.pattern, re.IGNORECASE) for term in self.terms]

    def for_sqlite(self) -> str:
        phrases = (f'"{" ".join(term.words)}"{"" if term.is_quoted else "*"}' for term in self.indexed)
        return " AND ".join(phrases)

    def for_postgresql(self) -> str:
        phrases = (
            " <-> ".join(f"'{word}'" for word in term.words) + ("" if term.is_quoted else ":*")
            for term in self.indexed
        )
        return " & ".join(f"({phrase})" for phrase in phrases)

    @property
    def indexed(self) -> list[QueryTerm]:
        return [term for term in self.terms if not term.is_unspaced]


@dataclass(frozen=True, slots=True)
class Hit:
    """A turn that matches all terms."""

    turn: Turn
    excerpt: SafeString

    @property
    def url(self) -> str:
        """The URL of the turn on its branch."""
        return f"{self.turn.session.get_absolute_url()}?leaf={self.turn.public}#t-{self.turn.public}"

    @property
    def author(self) -> str:
        kinds = Turn.Kind
        names = {kinds.USER_TASK: "You", kinds.TOOL_RESPONSE: "Tool", kinds.COMPRESSED_HISTORY: "Summary"}
        return names.get(kinds(self.turn.kind), "Model")


@dataclass(frozen=True, slots=True)
class TitleMatch:
    """A session whose title matches all terms."""

    session: Session
    title: SafeString


@dataclass(frozen=True, slots=True)
class SearchResults:
    text: str
    titles: Sequence[TitleMatch]
    hits: Sequence[Hit]
    has_words: bool = True
    """False for a text of signs only, which is not looked for."""

    @property
    def is_empty(self) -> bool:
        return not self.titles and not self.hits


def find(user: User | AnonymousUser, text: str, hits: int = HITS) -> SearchResults:
    """The hits in the user's sessions, best match first. Two queries."""
    query = Query.of(text)
    if not query.terms:
        return SearchResults(text, (), (), has_words=False)
    highlight = query.highlight
    candidates = _distinct(_candidates(user, query))
    ranked = sorted(_scored(candidates, query), key=lambda scored: (-scored[0], -scored[1].pk))
    return SearchResults(
        text,
        [
            TitleMatch(session, marked(session.shown_title, highlight))
            for session in _matching_titles(user, query)
        ],
        [Hit(turn, excerpt(turn.text, highlight)) for _, turn in ranked[:hits]],
    )


def excerpt(text: str, highlight: re.Pattern[str]) -> SafeString:
    """The part of the text with the most different matches, highlighted."""
    found = [(match.start(), match.group().lower()) for match in islice(highlight.finditer(text), CANDIDATES)]
    starts = [start for start, _ in found]
    best = max(starts, key=lambda start: _density(found, start), default=0)
    begin = max(0, best - EXCERPT // 4)
    if begin:
        begin = max(text.rfind(" ", begin - 20, best), begin - 20) + 1
    piece = plain(text[begin : begin + EXCERPT])
    before, after = "… " if begin > 0 else "", " …" if begin + EXCERPT < len(text) else ""
    return format_html("{}{}{}", before, marked(piece, highlight), after)


def _density(found: Sequence[tuple[int, str]], begin: int) -> tuple[int, int]:
    """Number of different matches and of all matches in an excerpt that begins here."""
    near = [word for start, word in found if begin <= start < begin + EXCERPT // 2]
    return len(set(near)), len(near)


def marked(text: str, highlight: re.Pattern[str]) -> SafeString:
    """The escaped text with each match in a mark element."""
    return format_html_join("", "{}{}", _pieces(text, highlight))


def _pieces(text: str, highlight: re.Pattern[str]) -> Iterator[tuple[str, str]]:
    place = 0
    for match in highlight.finditer(text):
        yield text[place : match.start()], format_html("<mark>{}</mark>", match.group())
        place = match.end()
    yield text[place:], ""


def _term(match: re.Match[str]) -> QueryTerm:
    quoted, bare = match.groups()
    words = tuple(word.lower() for word in _WORDS.findall(quoted if bare is None else bare))
    return QueryTerm(words, is_quoted=bare is None)


def _candidates(user: User | AnonymousUser, query: Query) -> QuerySet[Turn]:
    sessions = Session.objects.of(user).filter(temporary=False)
    turns = Turn.objects.filter(session__in=sessions).exclude(text="")
    if query.indexed:
        turns = turns.filter(pk__in=_index_matches(query))
    for term in query.terms:
        if term.is_unspaced:
            turns = turns.filter(text__icontains=" ".join(term.words))
    fields = ("public", "kind", "text", "content_id", "created_at", "session__public", "session__title")
    return turns.select_related("session").only(*fields).order_by("-pk")[:CANDIDATES]


def _index_matches(query: Query) -> RawSQL:
    if connections[Turn.objects.db].vendor == "sqlite":
        return RawSQL(SQLITE_QUERY, [query.for_sqlite()])  # noqa: S611 - words only, and as a parameter
    return RawSQL(POSTGRESQL_QUERY, [query.for_postgresql()])  # noqa: S611 - words only, and as a parameter


def _distinct(turns: QuerySet[Turn]) -> list[Turn]:
    """Keeps the newest of the turns of a session that share a content."""
    seen: dict[tuple[int, int], Turn] = {}
    for turn in turns:
        seen.setdefault((turn.session_id, turn.content_id), turn)
    return list(seen.values())


def _scored(turns: Sequence[Turn], query: Query) -> Iterator[tuple[float, Turn]]:
    patterns = query.patterns
    for turn in turns:
        counts = [len(pattern.findall(turn.text)) for pattern in patterns]
        if all(counts):
            yield sum(log(1 + count) for count in counts) / (1 + log(1 + len(turn.text) / 500)), turn


def _matching_titles(user: User | AnonymousUser, query: Query) -> list[Session]:
    sessions = Session.objects.of(user).filter(temporary=False)
    for term in query.terms:
        for word in term.words:
            sessions = sessions.filter(title__icontains=word)
    found = sessions.only("public", "title", "owner_id")[: TITLES * 4]
    return [one for one in found if all(pattern.search(one.title) for pattern in query.patterns)][:TITLES]
