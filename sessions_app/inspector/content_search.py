"""Search for a text, a printed hash or the name of a turn in the requests and answers of one session.

Sources are stored once, however many requests carried them, so they are searched instead of the requests:
newest first, at most `MAX_BYTES` bytes, until `MAX_MATCHES` of them match.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from django.db.models import Q

from sessions_app.inspector import formatting
from sessions_app.inspector.manifest_sources import manifest_sources
from sessions_app.inspector.printed_names import PrintedName, as_hash, printed_names, signed_with
from sessions_app.models import Exchange, Session, Source, Turn
from sessions_app.models.blob import unpacked
from sessions_app.models.turn_numbers import turn_numbers
from sessions_app.prompt import wire
from sessions_app.wording.sources import source_title

MAX_BYTES = 24_000_000

MAX_MATCHES = 200
CONTEXT = 60
"""Characters on both sides of a match."""


@dataclass(frozen=True, slots=True)
class Match:
    """`place` is the name of the source, `position` its item in the request; `tab` shows what is in none.
    `number` is that of a turn.
    """

    place: str
    before: str
    text: str
    after: str
    position: int | None = None
    number: int = 0
    tab: str = "response"

    @property
    def name(self) -> str:
        return formatting.visible(source_title(self.place, self.number))

    @property
    def address(self) -> str:
        """What follows the address of the exchange."""
        return f"?tab={self.tab}" if self.position is None else f"#item-{self.position}"


@dataclass(slots=True)
class Matches:
    """Exchange number → its first match. `is_cut`: the search stopped at a limit."""

    by_exchange: dict[int, Match] = field(default_factory=dict)
    is_cut: bool = False


def search(session: Session, text: str) -> Matches:
    """Case-insensitive; twelve queries at most."""
    found, is_cut = _in_sources(session, text)
    printed, matches = printed_names(session, text), Matches(is_cut=is_cut)
    numbers = turn_numbers(session.pk, (match.place for match in found.values()))
    found |= {pk: _match_of(one, text) for pk, one in printed.by_source.items()}
    for carrier in manifest_sources(Exchange.objects.filter(session=session)) if found else ():
        sources = carrier.sources
        at = next((at for at in range(len(sources) - 1, -1, -1) if sources[at] in found), None)
        if at is not None:
            match = found[sources[at]]
            number = numbers.get(match.place, 0)
            matches.by_exchange[carrier.number] = replace(match, position=at, number=number)
    _add_answers(session, text, matches)
    matches.by_exchange |= {number: _match_of(one, text) for number, one in printed.by_exchange.items()}
    return matches


def _match_of(printed: PrintedName, text: str) -> Match:
    """The printed name with the part that was asked for."""
    start = max(0, printed.text.lower().find(as_hash(text) or text.strip().lower()))
    end = start + len(as_hash(text) or text.strip())
    before, found, after = printed.text[:start], printed.text[start:end], printed.text[end:]
    return Match(printed.name, before, found, after, tab=printed.tab or "layers")


_OF_HTML = {ord(one): f"\\u{ord(one):04x}" for one in "<>&"}
_NUMBERED = re.compile(r"(?:\\+u[0-9a-fA-F]{4})+")


def spellings(text: str) -> list[str]:
    """The text as it is, as a JSON string, and as a JSON string inside a JSON string; longest first.

    Programs may write any character by its number: Python's what is not ASCII, Go's what HTML reads. Letters
    that are written so are found in the cases of `_cases`.
    """
    numbered = {json.dumps(one)[1:-1] for one in _cases(text)}
    safe = {one.translate(_OF_HTML) for one in numbered}
    once = {wire.dumps(text).decode()[1:-1], *numbered, *safe}
    twice = {wire.dumps(one).decode()[1:-1] for one in once}
    return sorted({text, *once, *twice}, key=len, reverse=True)


def _cases(text: str) -> set[str]:
    """The text as it is typed. SQLite and numbers do not know the cases of letters beyond ASCII: of a text
    with such, also all small, all large, and with a large one at the beginning.
    """
    return {text} if text.isascii() else {text, text.lower(), text.upper(), text.capitalize()}


def _in_sources(session: Session, text: str) -> tuple[dict[int, Match], bool]:
    needles = spellings(text)
    pattern = re.compile("|".join(map(re.escape, needles)), re.IGNORECASE)
    # Ten times faster than the pattern, but bytes.lower() changes ASCII only.
    quick = [needle.lower().encode() for needle in needles] if text.isascii() else None
    found: dict[int, Match] = {}
    searched, sha256 = 0, as_hash(text)
    for pk, name, body in _sources(session):
        searched += len(body)
        lowered = body.lower() if quick else b""
        if quick is None or any(needle in lowered for needle in quick):
            match = match_in(body.decode("utf-8", "replace"), pattern, name)
            found |= {pk: match} if match else {}
        if sha256 and pk not in found and (signed := signed_with(body, sha256)):
            found[pk] = _match_of(signed, text)
        if searched > MAX_BYTES or len(found) >= MAX_MATCHES:
            return found, True
    return found, False


def _sources(session: Session) -> Iterator[tuple[int, str, bytes]]:
    rows = Source.objects.filter(session=session).order_by("-pk")
    for pk, name, packed, body in rows.values_list("pk", "name", "blob__packed", "blob__body").iterator():
        yield pk, name, unpacked(bytes(body), packed)


def _add_answers(session: Session, text: str, matches: Matches) -> None:
    """Adds matches in answers: an answer is a source of the next request only, so its turn is searched."""
    wanted = Q(*(("text__icontains", one) for one in sorted(_cases(text))), _connector=Q.OR)
    turns = Turn.objects.filter(wanted, session=session, exchange__isnull=False)
    rows = list(turns.order_by("-pk").values_list("exchange__number", "text")[: MAX_MATCHES + 1])
    for number, answer in rows[:MAX_MATCHES]:
        found = match_in(answer, re.compile(re.escape(text), re.IGNORECASE), "answer")
        if found is not None:
            matches.by_exchange[number] = found
    matches.is_cut |= len(rows) > MAX_MATCHES


def match_in(text: str, needles: re.Pattern[str], place: str) -> Match | None:
    """The first match of the pattern with its context."""
    found = needles.search(text)
    if found is None:
        return None
    start, end = found.span()
    # Only the same JSON value, without the keys around it.
    before = re.split(r'": ?"', text[max(0, start - CONTEXT) : start])[-1]
    after = text[end : end + CONTEXT].partition('"}')[0]
    return Match(place, _shown(before), _shown(found[0]), _shown(after))


def _shown(text: str) -> str:
    """On one line: line breaks, also escaped ones, become spaces. Characters stand for their numbers."""
    return formatting.visible(re.sub(r"\\+n|\n", " ", _NUMBERED.sub(_characters, text)))


def _characters(numbered: re.Match[str]) -> str:
    """Two numbers may be one character."""
    units = (int(one, 16) for one in re.findall(r"u([0-9a-fA-F]{4})", numbered[0]))
    return "".join(map(chr, units)).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
