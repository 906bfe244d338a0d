"""Text inside what was sent and answered in one session.

Each source is stored once, however many requests carried it, so the whole of a session is looked
through by reading its sources: newest first, up to `LOOKED` bytes, until `FOUND` of them match.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from sessions_app.inspector import texts
from sessions_app.inspector.manifests import carriers
from sessions_app.inspector.tabs.layers import name_of
from sessions_app.models import Exchange, Session, Source, Turn
from sessions_app.models.blob import unpacked
from sessions_app.prompt import wire

LOOKED = 24_000_000
"""Bytes of stored sources that one search reads."""

FOUND = 200
AROUND = 60
"""Characters on both sides of a match."""


@dataclass(frozen=True, slots=True)
class Match:
    """Where the text stands: `place` is the source's name, `position` its item in the request."""

    place: str
    before: str
    text: str
    after: str
    position: int | None = None

    @property
    def name(self) -> str:
        """The place as a person calls it."""
        return name_of(self.place)


@dataclass(slots=True)
class Matches:
    """Exchange number → its first match. `is_cut` says that not everything was looked through."""

    by_exchange: dict[int, Match] = field(default_factory=dict)
    is_cut: bool = False


def search(session: Session, words: str) -> Matches:
    """Four queries. Upper and lower case are the same."""
    found, is_cut = _in_sources(session, words)
    matches = Matches(is_cut=is_cut)
    for carrier in carriers(Exchange.objects.filter(session=session)) if found else ():
        sources = carrier.sources
        at = next((at for at in range(len(sources) - 1, -1, -1) if sources[at] in found), None)
        if at is not None:
            matches.by_exchange[carrier.number] = replace(found[sources[at]], position=at)
    return _with_answers(session, words, matches)


def spellings(words: str) -> list[str]:
    """The words as they stand in a turn, in a text layer's piece, and in a value inside such a piece."""
    once = wire.dumps(words).decode()[1:-1]
    return sorted({words, once, wire.dumps(once).decode()[1:-1]}, key=len, reverse=True)


def _in_sources(session: Session, words: str) -> tuple[dict[int, Match], bool]:
    needles = spellings(words)
    pattern = re.compile("|".join(map(re.escape, needles)), re.IGNORECASE)
    # Bytes are lowered and looked through ten times faster than a pattern does; they know ASCII only.
    quick = [needle.lower().encode() for needle in needles] if words.isascii() else None
    found: dict[int, Match] = {}
    looked = 0
    for pk, name, body in _sources(session):
        looked += len(body)
        lowered = body.lower() if quick else b""
        if quick is None or any(needle in lowered for needle in quick):
            match = match_in(body.decode("utf-8", "replace"), pattern, name)
            found |= {pk: match} if match else {}
        if looked > LOOKED or len(found) >= FOUND:
            return found, True
    return found, False


def _sources(session: Session) -> Iterator[tuple[int, str, bytes]]:
    rows = Source.objects.filter(session=session).order_by("-pk")
    for pk, name, packed, body in rows.values_list("pk", "name", "blob__packed", "blob__body").iterator():
        yield pk, name, unpacked(bytes(body), packed)


def _with_answers(session: Session, words: str, matches: Matches) -> Matches:
    """An answer is a source of the next request only; its own exchange is found by its turn."""
    turns = Turn.objects.filter(session=session, exchange__isnull=False, text__icontains=words)
    rows = list(turns.order_by("-pk").values_list("exchange__number", "text")[: FOUND + 1])
    for number, text in rows[:FOUND]:
        found = match_in(text, re.compile(re.escape(words), re.IGNORECASE), "answer")
        if found is not None:
            matches.by_exchange[number] = found
    matches.is_cut |= len(rows) > FOUND
    return matches


def match_in(text: str, needles: re.Pattern[str], place: str) -> Match | None:
    """The first place where one of the needles stands, with what is around it."""
    found = needles.search(text)
    if found is None:
        return None
    start, end = found.span()
    # What stands in the same value of the JSON: its key before and the next one after say nothing.
    before = text[max(0, start - AROUND) : start].rpartition('":"')[2]
    after = text[end : end + AROUND].partition('"}')[0]
    return Match(place, _shown(before), _shown(found[0]), _shown(after))


def _shown(text: str) -> str:
    """On one line: the escapes of JSON that only break lines are told as spaces."""
    return texts.visible(re.sub(r"\\+n|\n", " ", text))
