"""Two versions of an item compared by line and word.

Above a limit of differences the texts are shown as one deletion and one insertion, which keeps the time and
memory of rapidfuzz (old × new bits) bounded.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from sessions_app.inspector import formatting
from sessions_app.inspector.part_views import text_of, title_of
from sessions_app.inspector.request_diff import ItemPair, SentItemPart
from sessions_app.models import Source
from sessions_app.prompt import wire
from sessions_app.prompt.layers import Layer
from sessions_app.prompt.parts import parts_of

Change = Literal["same", "gone", "new"]

LINE_LIMIT = 600
"""Differing lines after which two texts count as different."""

WORD_LIMIT = 300
"""The same for the words of one block of lines."""

BLOCK = 40_000
"""Characters of a changed block above which its words are not compared."""

TABLE = 400_000_000
"""Old × new tokens between the first and last difference above which they are not compared: 50 MB."""

_WORDS = re.compile(r"\w+\s*|[^\w\s]\s*|\s+")


@dataclass(frozen=True, slots=True)
class DiffSegment:
    """Text that is in both versions, only in the old one (`gone`), or only in the new one."""

    change: Change
    text: str


def compare(old: str, new: str) -> list[DiffSegment]:
    """Segments in order: all but the new ones join to `old`, all but the gone ones to `new`."""
    lines = [old.splitlines(keepends=True), new.splitlines(keepends=True)]
    pieces: list[DiffSegment] = []
    blocks = groupby(differences(lines[0], lines[1], LINE_LIMIT), key=lambda one: one.change == "same")
    for is_same, group in blocks:
        found = list(group)
        pieces += found if is_same else _words(found)
    return joined(pieces)


def _words(block: Sequence[DiffSegment]) -> Iterator[DiffSegment]:
    """One block of changed lines, word by word."""
    gone = "".join(piece.text for piece in block if piece.change == "gone")
    new = "".join(piece.text for piece in block if piece.change == "new")
    if not gone or not new or len(gone) + len(new) > BLOCK:
        return _replacement(gone, new)
    return iter(differences(_WORDS.findall(gone), _WORDS.findall(new), WORD_LIMIT))


def _replacement(gone: str, new: str) -> Iterator[DiffSegment]:
    if gone:
        yield DiffSegment("gone", gone)
    if new:
        yield DiffSegment("new", new)


def joined(pieces: Sequence[DiffSegment]) -> list[DiffSegment]:
    """Adjacent segments of one kind joined; in a replacement the old text comes first."""
    found: list[DiffSegment] = []
    for is_same, group in groupby(pieces, key=lambda piece: piece.change == "same"):
        texts = list(group)
        if is_same:
            found.append(DiffSegment("same", "".join(piece.text for piece in texts)))
        else:
            gone = "".join(piece.text for piece in texts if piece.change == "gone")
            found += _replacement(gone, "".join(piece.text for piece in texts if piece.change == "new"))
    return found


def differences(old: Sequence[str], new: Sequence[str], limit: int) -> list[DiffSegment]:
    """The shortest edit from one list of tokens to the other; one replacement when it exceeds `limit`."""
    start = _common(old, new)
    end = _common(old[start:][::-1], new[start:][::-1])
    before, after = old[start : len(old) - end], new[start : len(new) - end]
    head, tail = "".join(old[:start]), "".join(old[len(old) - end :])
    return [*_same(head), *_edits(before, after, limit), *_same(tail)]


def _same(text: str) -> Iterator[DiffSegment]:
    if text:
        yield DiffSegment("same", text)


def _common(old: Sequence[str], new: Sequence[str]) -> int:
    """How many tokens both begin with."""
    count = 0
    for one, other in zip(old, new, strict=False):
        if one != other:
            break
        count += 1
    return count


def _edits(old: Sequence[str], new: Sequence[str], limit: int) -> Iterator[DiffSegment]:
    # Three megabytes, for whoever compares requests.
    from rapidfuzz.distance import Indel

    if len(old) * len(new) > TABLE or Indel.distance(old, new, score_cutoff=limit) > limit:
        yield from _replacement("".join(old), "".join(new))
        return
    for step in Indel.opcodes(old, new):
        gone, come = old[step.src_start : step.src_end], new[step.dest_start : step.dest_end]
        if step.tag == "equal":
            yield DiffSegment("same", "".join(gone))
        else:
            yield from _replacement("".join(gone), "".join(come))


CONTEXT = 240
"""Unchanged characters on each side of a change that are shown."""

SHOWN = 3_000
"""Characters of one change that are shown at first."""


@dataclass(frozen=True, slots=True)
class SegmentView:
    """`left_out` is the number of characters omitted between `text` and `after`."""

    change: Change
    text: str
    left_out: int = 0
    after: str = ""

    @property
    def sign(self) -> str:
        return {"same": "", "gone": "−", "new": "+"}[self.change]


@dataclass(frozen=True, slots=True)
class ItemDiff:
    """`is_hidden`: the readable text is equal, and only the bytes differ."""

    pieces: list[SegmentView]
    is_hidden: bool = False

    @property
    def is_cut(self) -> bool:
        """Whether a difference is shortened."""
        return any(piece.left_out for piece in self.pieces if piece.change != "same")


class ItemBodies:
    """The bytes of the items of some pairs, in one query."""

    def __init__(self, pairs: Iterable[ItemPair]) -> None:
        keys = {side.source for pair in pairs for side in (pair.old, pair.new) if side}
        rows = Source.objects.filter(pk__in=keys).select_related("blob") if keys else ()
        self._bodies = {row.pk: row.blob.bytes for row in rows}

    def change(self, pair: ItemPair, *, whole: bool = False) -> ItemDiff:
        """Compares the readable text, or the bytes where only they differ."""
        old, new = (self._readable(side) for side in (pair.old, pair.new))
        pieces = compare(old, new)
        is_hidden = pair.status == "changed" and (
            all(piece.change == "same" for piece in pieces) or self.is_respelled(pair)
        )
        if is_hidden:
            pieces = compare(self._decoded(pair.old), self._decoded(pair.new))
        return ItemDiff(shortened(pieces, None if whole else SHOWN), is_hidden)

    def is_respelled(self, pair: ItemPair) -> bool:
        """Whether both sides are one JSON value in other bytes; False for a pair without its bytes here."""
        sides = [self._bodies.get(side.source) for side in (pair.old, pair.new) if side]
        if pair.status != "changed" or None in sides:
            return False
        try:
            old, new = (wire.canonical(wire.loads(body)) for body in sides if body is not None)
        except ValueError:
            return False
        return old == new

    def _decoded(self, side: SentItemPart | None) -> str:
        return formatting.decoded(self._bodies[side.source]) if side else ""

    def _readable(self, side: SentItemPart | None) -> str:
        return item_text(side, self._bodies[side.source]) if side else ""


def item_text(item: SentItemPart, body: bytes) -> str:
    """An item as text: its parts with titles, template text unescaped, tools indented."""
    if item.name == "tools":
        return formatting.pretty(body)
    if item.layer in (Layer.STATIC, Layer.DYNAMIC):
        return formatting.segment_text(body)
    try:
        views = parts_of(body)
    except ValueError:
        return formatting.decoded(body)
    return "\n".join(f"{title_of(view)}: {text_of(view)}" for view in views)


def shortened(pieces: Sequence[DiffSegment], shown: int | None) -> list[SegmentView]:
    """Equal text only within `CONTEXT` of a change; of a change at most `shown` characters, or all."""
    last = len(pieces) - 1
    return [
        _shorten_equal(piece.text, is_first=place == 0, is_last=place == last)
        if piece.change == "same"
        else _shorten_change(piece, shown)
        for place, piece in enumerate(pieces)
    ]


def _shorten_equal(text: str, *, is_first: bool, is_last: bool) -> SegmentView:
    head, tail = (0 if is_first else CONTEXT), (0 if is_last else CONTEXT)
    if len(text) <= head + tail + CONTEXT:
        return SegmentView("same", text)
    return SegmentView("same", text[:head], len(text) - head - tail, text[len(text) - tail :])


def _shorten_change(piece: DiffSegment, shown: int | None) -> SegmentView:
    if shown is None or len(piece.text) <= shown:
        return SegmentView(piece.change, piece.text)
    return SegmentView(piece.change, piece.text[:shown], len(piece.text) - shown)
