"""One item of two requests, word by word, as a page shows it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sessions_app.inspector import texts
from sessions_app.inspector.diffs import Pair, Sent
from sessions_app.inspector.parts import text_of, title_of
from sessions_app.inspector.words import Change, Piece, compare
from sessions_app.models import Source
from sessions_app.prompt.layers import Layer
from sessions_app.prompt.turns import parts_of

CONTEXT = 240
"""Unchanged characters on each side of a change that are shown."""

SHOWN = 3_000
"""Characters of one change that are shown until the whole is asked for."""


@dataclass(frozen=True, slots=True)
class ShownPiece:
    """`left_out` characters stand between `text` and `after` and are not shown."""

    change: Change
    text: str
    left_out: int = 0
    after: str = ""

    @property
    def sign(self) -> str:
        return {"same": "", "gone": "−", "new": "+"}[self.change]


@dataclass(frozen=True, slots=True)
class ShownChange:
    """What an opened item shows. `is_hidden`: it reads the same, and only the bytes differ."""

    pieces: list[ShownPiece]
    is_hidden: bool = False

    @property
    def is_cut(self) -> bool:
        """Whether a part that differs is not shown to its end."""
        return any(piece.left_out for piece in self.pieces if piece.change != "same")


class Bodies:
    """The bytes of the items of some pairs: one query, made when the first is asked for."""

    def __init__(self, pairs: Iterable[Pair]) -> None:
        keys = {side.source for pair in pairs for side in (pair.old, pair.new) if side}
        rows = Source.objects.filter(pk__in=keys).select_related("blob") if keys else ()
        self._bodies = {row.pk: row.blob.bytes for row in rows}

    def change(self, pair: Pair, *, whole: bool = False) -> ShownChange:
        """By what a person reads; where that is equal and the bytes are not, by the bytes."""
        old, new = (self._readable(side) for side in (pair.old, pair.new))
        pieces = compare(old, new)
        is_hidden = pair.fate == "changed" and all(piece.change == "same" for piece in pieces)
        if is_hidden:
            pieces = compare(self._decoded(pair.old), self._decoded(pair.new))
        return ShownChange(folded(pieces, None if whole else SHOWN), is_hidden)

    def _decoded(self, side: Sent | None) -> str:
        return texts.decoded(self._bodies[side.source]) if side else ""

    def _readable(self, side: Sent | None) -> str:
        return readable(side, self._bodies[side.source]) if side else ""


def readable(item: Sent, wire: bytes) -> str:
    """An item as text: its parts under their titles, a template's piece unescaped, tools indented."""
    if item.name == "tools":
        return texts.pretty(wire)
    if item.layer in (Layer.STATIC, Layer.DYNAMIC):
        return texts.segment_text(wire)
    try:
        views = parts_of(wire)
    except ValueError:
        return texts.decoded(wire)
    return "\n".join(f"{title_of(view)}: {text_of(view)}" for view in views)


def folded(pieces: Sequence[Piece], shown: int | None) -> list[ShownPiece]:
    """What is the same is shown near a change only; of a change at most `shown` characters, or all."""
    last = len(pieces) - 1
    return [
        _near(piece.text, is_first=place == 0, is_last=place == last)
        if piece.change == "same"
        else _begun(piece, shown)
        for place, piece in enumerate(pieces)
    ]


def _near(text: str, *, is_first: bool, is_last: bool) -> ShownPiece:
    head, tail = (0 if is_first else CONTEXT), (0 if is_last else CONTEXT)
    if len(text) <= head + tail + CONTEXT:
        return ShownPiece("same", text)
    return ShownPiece("same", text[:head], len(text) - head - tail, text[len(text) - tail :])


def _begun(piece: Piece, shown: int | None) -> ShownPiece:
    if shown is None or len(piece.text) <= shown:
        return ShownPiece(piece.change, piece.text)
    return ShownPiece(piece.change, piece.text[:shown], len(piece.text) - shown)
