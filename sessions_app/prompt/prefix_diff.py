"""A request compared with the one before it: the ledger of its items, and the break line.

Estimates from items and their bytes; what the provider reused is in its usage. An item is a hit while
every item up to it is the one sent before (reference B3). Items are compared by identity, not by
position: an item that a named cache holds is the same item.
"""

import re
from collections.abc import Hashable, Sequence
from dataclasses import asdict, dataclass
from itertools import takewhile
from typing import Any, Self

from sessions_app.prompt.parts import raw_parts
from sessions_app.prompt.pricing import MILLION, SMALLEST, Rates
from sessions_app.prompt.stored import Code, from_json, to_json


@dataclass(frozen=True, slots=True)
class LedgerItem:
    """One item of a manifest. `identity` is equal for the same source with the same bytes, and only then.

    `is_named`: the request names a cache instead of carrying the item.
    """

    layer: str
    source: str
    identity: Hashable
    tokens: int
    is_named: bool = False


@dataclass(frozen=True, slots=True)
class Ledger:
    """The sums of one exchange, in estimated tokens. `prefix` is the number of equal leading items."""

    prefix: int
    items: int
    hits: int
    hit_tokens: int
    miss_tokens: int

    @property
    def tokens(self) -> int:
        return self.hit_tokens + self.miss_tokens

    def stored(self) -> dict[str, int]:
        return asdict(self)

    @classmethod
    def restored(cls, stored: dict[str, Any]) -> Self | None:
        return cls(**stored) if stored else None


def common_prefix(before: Sequence[Hashable], now: Sequence[Hashable]) -> int:
    """The number of equal leading identities."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(before, now, strict=False)))


def ledger_of(before: Sequence[Hashable], now: Sequence[LedgerItem]) -> Ledger:
    """The ledger of a request; `before` are the identities of the one before it, empty for the first."""
    prefix = common_prefix(before, [entry.identity for entry in now])
    hits = [entry.tokens for position, entry in enumerate(now) if is_hit(entry, position, prefix)]
    total = sum(entry.tokens for entry in now)
    return Ledger(prefix, len(now), len(hits), sum(hits), total - sum(hits))


def is_hit(entry: LedgerItem, position: int, prefix: int) -> bool:
    """An item of a named cache is always a hit: another session may have created the cache."""
    return entry.is_named or position < prefix


CONTEXT_LENGTH = 40
"""Characters shown before and after the break."""

_ESCAPE = re.compile(r"\\(?:u[0-9a-fA-F]{4}|.)", re.DOTALL)


class BreakKind(Code):
    """The same source with other bytes; a new source; a missing source; two sources in another order;
    no item where there was one.
    """

    CHANGED = "changed"
    APPEARED = "appeared"
    GONE = "gone"
    MOVED = "moved"
    SHORTENED = "shortened"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class ManifestPiece:
    """One item of a manifest with its bytes; `content` and `part` are its place on the wire, or None."""

    layer: str
    source: str
    wire: bytes
    content: int | None = None
    part: int | None = None


@dataclass(frozen=True, slots=True)
class BreakLine:
    """The first difference. `item` counts from 0 in the manifest, `byte` inside the item as it is written.

    `part` is the part on the wire, `line` the line of a text, None for a turn. `before` is the common text
    before the break, `was` and `now` the text after it in each request. `lost_tokens` were sent before
    and are after the break (estimated); `usd` is their extra cost as text, empty when the price is unknown.
    """

    item: int
    kind: BreakKind
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

    def stored(self) -> dict[str, Any]:
        return to_json(self)

    @classmethod
    def restored(cls, stored: dict[str, Any]) -> Self | None:
        """What `stored` wrote; None when there was no break."""
        return from_json(cls, stored)


def find_break(
    index: int,
    before: Sequence[str],
    now: Sequence[str],
    was: ManifestPiece | None,
    here: ManifestPiece | None,
    *,
    last: bytes = b"",
) -> BreakLine | None:
    """The break at item `index`, where the two manifests first differ.

    `before` and `now` are all source names in order; `was` and `here` the items at `index`, None where
    a manifest has ended; `last` is the common item before it. None when the request only appends.
    """
    if was is None:
        return None
    kind = _break_kind(was.source, here.source if here else None, before, now)
    shown = was if here is None or kind is BreakKind.GONE else here
    place = _difference(was, here, last, same=kind is BreakKind.CHANGED)
    is_turn = shown.source.startswith("turn:")
    names = before if shown is was else now
    return BreakLine(
        item=index,
        kind=kind,
        layer=shown.layer,
        source=shown.source,
        turn=sum(name.startswith("turn:") for name in names[: index + 1]) if is_turn else 0,
        byte=place.byte,
        part=_first_changed_part(was, here) if is_turn and kind is BreakKind.CHANGED else shown.part,
        line=None if is_turn or shown.source == "tools" else place.line,
        before=place.before,
        was=place.was,
        now=place.now,
    )


def break_cost(lost_tokens: int, rates: Rates | None) -> str:
    """The extra cost of these tokens as new input instead of cached input, as text."""
    if rates is None:
        return ""
    return str((lost_tokens * (rates.input - rates.cached) / MILLION).quantize(SMALLEST))


@dataclass(frozen=True, slots=True)
class _Difference:
    byte: int
    line: int
    before: str
    was: str
    now: str


def _break_kind(was: str, here: str | None, before: Sequence[str], now: Sequence[str]) -> BreakKind:
    if here is None:
        return BreakKind.SHORTENED
    if was == here:
        return BreakKind.CHANGED
    if here not in before:
        return BreakKind.APPEARED
    return BreakKind.GONE if was not in now else BreakKind.MOVED


def _difference(was: ManifestPiece, here: ManifestPiece | None, last: bytes, *, same: bool) -> _Difference:
    old, new = was.wire.decode(errors="replace"), here.wire.decode(errors="replace") if here else ""
    at = common_length(old, new) if same else 0
    lead = new[:at] or last.decode(errors="replace")
    start = escape_start(lead, max(0, len(lead) - CONTEXT_LENGTH))
    return _Difference(
        byte=len(new[:at].encode()),
        line=new[:at].count("\\n") + 1,
        before=lead[start:],
        was=old[at : escape_start(old, at + CONTEXT_LENGTH)],
        now=new[at : escape_start(new, at + CONTEXT_LENGTH)],
    )


def common_length(old: str, new: str) -> int:
    """The number of equal leading characters, not ending inside a JSON escape."""
    low, high = 0, min(len(old), len(new))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if old[:middle] == new[:middle] else (low, middle - 1)
    return min(escape_start(old, low), escape_start(new, low))


def escape_start(text: str, at: int) -> int:
    """`at`, or the start of the JSON escape (such as `\\u00e9`) that it is inside."""
    for start in range(max(0, at - 5), min(at, len(text))):
        found = _ESCAPE.match(text, start)
        if found and found.end() > at and _begins_escape(text, start):
            return start
    return at


def _begins_escape(text: str, start: int) -> bool:
    """Whether the backslash at `start` is not the second half of `\\\\`."""
    run = start
    while run and text[run - 1] == "\\":
        run -= 1
    return (start - run) % 2 == 0


def _first_changed_part(was: ManifestPiece, here: ManifestPiece | None) -> int | None:
    """The first part of a turn that differs."""
    if here is None:
        return None
    old, new = raw_parts(was.wire), raw_parts(here.wire)
    pairs = enumerate(zip(old, new, strict=False))
    return next((index for index, (one, other) in pairs if one != other), min(len(old), len(new)))
