"""The break line: where a request left the request before it, shown byte by byte, and what that cost."""

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal, Self

from sessions_app.prompt.pricing import MILLION, SMALLEST, Rates
from sessions_app.prompt.turns import raw_parts

AROUND = 40
"""Characters shown on each side of the place."""

Kind = Literal["changed", "appeared", "gone", "moved", "shortened"]
"""The same source says something else; a source is new or missing there; two sources changed places;
nothing stands where something stood."""

_ESCAPE = re.compile(r"\\(?:u[0-9a-fA-F]{4}|.)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Piece:
    """One item of a manifest with its bytes; `content` and `part` are its place on the wire, or None."""

    layer: str
    source: str
    wire: bytes
    content: int | None = None
    part: int | None = None


@dataclass(frozen=True, slots=True)
class BreakLine:
    """The first difference. `item` counts from 0 in the manifest, `byte` inside the item as it is written.

    `part` is the part on the wire, `line` the line of a text, None for a turn. `before` is what both
    have in common up to the place, `was` and `now` what follows there in each.
    `lost_tokens` are tokens that were sent before and are behind the break (estimated); `usd` is what
    they cost more than from a cache, as text, empty when the price is unknown.
    """

    item: int
    kind: Kind
    layer: str
    source: str
    turn: int
    byte: int
    part: int | None
    line: int | None
    before: str
    was: str
    now: str
    lost_tokens: int = 0
    usd: str = ""

    @property
    def place(self) -> str:
        """The source as a person calls it, and the spot inside it."""
        spots = [f"line {self.line}"] if self.line else []
        spots += [f"part {self.part}"] if self.part is not None else []
        return ", ".join([spoken(self.source, self.turn), *spots, f"byte {self.byte:,}"])

    @property
    def words(self) -> str:
        """What happened there, as the end of a sentence that begins “They part at …”."""
        named = spoken(self.source, self.turn)
        said = {
            "changed": f"{named} says something else",
            "appeared": f"{named} is new there",
            "gone": f"{named} is no longer there",
            "moved": f"{named} has another place",
            "shortened": f"{named} and what followed are no longer sent",
        }
        return said[self.kind]

    def stored(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def restored(cls, stored: dict[str, Any]) -> Self | None:
        """What `stored` wrote; None when there was no break."""
        known = {field.name for field in fields(cls)}
        return cls(**{name: value for name, value in stored.items() if name in known}) if stored else None


def find(
    index: int,
    before: Sequence[str],
    now: Sequence[str],
    was: Piece | None,
    here: Piece | None,
    *,
    last: bytes = b"",
) -> BreakLine | None:
    """The break at item `index`, where the two manifests first differ.

    `before` and `now` are all source names in order; `was` and `here` the items at the place, None
    where a manifest has ended; `last` the item in front of it, which both share. None when the
    request only went on after what was sent before: that is no change of ours.
    """
    if was is None:
        return None
    kind = _kind(was.source, here.source if here else None, before, now)
    shown = was if here is None or kind == "gone" else here
    place = _spot(was, here, last, same=kind == "changed")
    is_turn = shown.source.startswith("turn:")
    names = before if shown is was else now
    return BreakLine(
        item=index,
        kind=kind,
        layer=shown.layer,
        source=shown.source,
        turn=sum(name.startswith("turn:") for name in names[: index + 1]) if is_turn else 0,
        byte=place.byte,
        part=_part(was, here) if is_turn and kind == "changed" else shown.part,
        line=None if is_turn or shown.source == "tools" else place.line,
        before=place.before,
        was=place.was,
        now=place.now,
    )


def priced(lost_tokens: int, rates: Rates | None) -> str:
    """What sending these tokens as new cost more than reading them from a cache would have."""
    if rates is None:
        return ""
    return str((lost_tokens * (rates.input - rates.cached) / MILLION).quantize(SMALLEST))


def spoken(source: str, turn: int = 0) -> str:
    """A source in words: panel “todos”, turn 3, the static template."""
    kind, _, key = source.partition(":")
    known = {
        "template:static": "the static template",
        "template:dynamic": "the dynamic template",
        "tools": "the tool declarations",
        "clock": "the clock",
    }
    if source in known:
        return known[source]
    if kind == "turn":
        return f"turn {turn}" if turn else "a turn"
    return f"{kind.replace('_', ' ')} “{key}”" if key else f"the {kind.replace('_', ' ')}"


@dataclass(frozen=True, slots=True)
class _Spot:
    byte: int
    line: int
    before: str
    was: str
    now: str


def _kind(was: str, here: str | None, before: Sequence[str], now: Sequence[str]) -> Kind:
    if here is None:
        return "shortened"
    if was == here:
        return "changed"
    is_new, is_gone = here not in before, was not in now
    if is_new and is_gone:
        return "appeared"
    return "appeared" if is_new else "gone" if is_gone else "moved"


def _spot(was: Piece, here: Piece | None, last: bytes, *, same: bool) -> _Spot:
    old, new = was.wire.decode(errors="replace"), here.wire.decode(errors="replace") if here else ""
    at = common(old, new) if same else 0
    lead = new[:at] or last.decode(errors="replace")
    start = whole(lead, max(0, len(lead) - AROUND))
    return _Spot(
        byte=len(new[:at].encode()),
        line=new[:at].count("\\n") + 1,
        before=lead[start:],
        was=old[at : whole(old, at + AROUND)],
        now=new[at : whole(new, at + AROUND)],
    )


def common(old: str, new: str) -> int:
    """How many leading characters are equal, up to the beginning of an escape that is not."""
    low, high = 0, min(len(old), len(new))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if old[:middle] == new[:middle] else (low, middle - 1)
    return min(whole(old, low), whole(new, low))


def whole(text: str, at: int) -> int:
    """The nearest place at or before `at` that does not cut a JSON escape such as `\\u00e9` in two."""
    for start in range(max(0, at - 5), min(at, len(text))):
        found = _ESCAPE.match(text, start)
        if found and found.end() > at and _begins(text, start):
            return start
    return at


def _begins(text: str, start: int) -> bool:
    """Whether the backslash there begins an escape, and is not the second half of `\\\\`."""
    run = start
    while run and text[run - 1] == "\\":
        run -= 1
    return (start - run) % 2 == 0


def _part(was: Piece, here: Piece | None) -> int | None:
    """The first part of a turn that differs."""
    if here is None:
        return None
    old, new = raw_parts(was.wire), raw_parts(here.wire)
    pairs = enumerate(zip(old, new, strict=False))
    return next((index for index, (one, other) in pairs if one != other), min(len(old), len(new)))
