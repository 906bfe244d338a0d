"""What changed between two texts: pure, exact, and never longer than it is worth.

Lines first, then the words of lines that stand for each other. Each search gives up after a number of
differences (Myers' algorithm costs lines × differences): two texts that have little in common are then
told as one text gone and another come, which is what a reader would say too.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

Change = Literal["same", "gone", "new"]

LINE_LIMIT = 600
"""Differing lines after which two texts count as different."""

WORD_LIMIT = 300
"""The same for the words of one block of lines."""

BLOCK = 40_000
"""Characters of a changed block above which its words are not compared."""

_WORDS = re.compile(r"\w+\s*|[^\w\s]\s*|\s+")


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of text with one fate. `gone` was only in the old text, `new` is only in the new one."""

    change: Change
    text: str


def compare(old: str, new: str) -> list[Piece]:
    """The pieces in order: all but the new ones join to `old`, all but the gone ones to `new`."""
    lines = [old.splitlines(keepends=True), new.splitlines(keepends=True)]
    pieces: list[Piece] = []
    blocks = groupby(differences(lines[0], lines[1], LINE_LIMIT), key=lambda one: one.change == "same")
    for is_same, group in blocks:
        found = list(group)
        pieces += found if is_same else _words(found)
    return joined(pieces)


def _words(block: Sequence[Piece]) -> Iterator[Piece]:
    """One block of changed lines, word by word."""
    gone = "".join(piece.text for piece in block if piece.change == "gone")
    new = "".join(piece.text for piece in block if piece.change == "new")
    if not gone or not new or len(gone) + len(new) > BLOCK:
        return _replaced(gone, new)
    return iter(differences(_WORDS.findall(gone), _WORDS.findall(new), WORD_LIMIT))


def _replaced(gone: str, new: str) -> Iterator[Piece]:
    if gone:
        yield Piece("gone", gone)
    if new:
        yield Piece("new", new)


def joined(pieces: Sequence[Piece]) -> list[Piece]:
    """Neighbours with the same fate as one piece; where old and new stand for each other, old comes first."""
    found: list[Piece] = []
    for is_same, group in groupby(pieces, key=lambda piece: piece.change == "same"):
        texts = list(group)
        if is_same:
            found.append(Piece("same", "".join(piece.text for piece in texts)))
        else:
            gone = "".join(piece.text for piece in texts if piece.change == "gone")
            found += _replaced(gone, "".join(piece.text for piece in texts if piece.change == "new"))
    return found


def differences(old: Sequence[str], new: Sequence[str], limit: int) -> list[Piece]:
    """The shortest edit from one list of tokens to the other; one replacement when it exceeds `limit`."""
    start = _common(old, new)
    end = _common(old[start:][::-1], new[start:][::-1])
    before, after = old[start : len(old) - end], new[start : len(new) - end]
    middle = _shortest(before, after, limit)
    if middle is None:
        middle = list(_replaced("".join(before), "".join(after)))
    head, tail = "".join(old[:start]), "".join(old[len(old) - end :])
    return [*_same(head), *middle, *_same(tail)]


def _same(text: str) -> Iterator[Piece]:
    if text:
        yield Piece("same", text)


def _common(old: Sequence[str], new: Sequence[str]) -> int:
    """How many tokens both begin with."""
    count = 0
    for one, other in zip(old, new, strict=False):
        if one != other:
            break
        count += 1
    return count


def _shortest(old: Sequence[str], new: Sequence[str], limit: int) -> list[Piece] | None:
    """Myers' greedy search; None when more than `limit` tokens differ.

    `reach[k]` is how far in `old` a path on diagonal k (old index − new index) has come.
    """
    reach = {1: 0}
    trail: list[dict[int, int]] = []
    for edits in range(min(limit, len(old) + len(new)) + 1):
        trail.append(dict(reach))
        for diagonal in range(-edits, edits + 1, 2):
            down = diagonal == -edits or (diagonal != edits and reach[diagonal - 1] < reach[diagonal + 1])
            x = reach[diagonal + 1] if down else reach[diagonal - 1] + 1
            while x < len(old) and x - diagonal < len(new) and old[x] == new[x - diagonal]:
                x += 1
            reach[diagonal] = x
            if x >= len(old) and x - diagonal >= len(new):
                return _traced(old, new, trail)
    return None


def _traced(old: Sequence[str], new: Sequence[str], trail: list[dict[int, int]]) -> list[Piece]:
    """The path that the search found, walked back from its end."""
    x, y = len(old), len(new)
    pieces: list[Piece] = []
    for edits in range(len(trail) - 1, -1, -1):
        reach, diagonal = trail[edits], x - y
        down = diagonal == -edits or (diagonal != edits and reach[diagonal - 1] < reach[diagonal + 1])
        before = diagonal + 1 if down else diagonal - 1
        start_x = reach[before]
        start_y = start_x - before
        while x > start_x and y > start_y and (x, y) != (start_x, start_y):
            if edits and (x, y) == ((start_x, start_y + 1) if down else (start_x + 1, start_y)):
                break
            x, y = x - 1, y - 1
            pieces.append(Piece("same", old[x]))
        if edits:
            pieces.append(Piece("new", new[start_y]) if down else Piece("gone", old[start_x]))
            x, y = start_x, start_y
    return pieces[::-1]
