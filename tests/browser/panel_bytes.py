"""What a request shares with the one before it, from the bytes alone that a provider received.

Nothing here is the product's: a body is parsed, its parts are written in order, and two lists are compared.
"""

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

FILES = "file_references/"


class Piece(NamedTuple):
    """One panel, or one part of a message; `text` is all of it that a prefix cache reads."""

    name: str
    text: str


def pieces_of(body: str) -> list[Piece]:
    """What stands behind the static layer, in order: the panels one by one, then the parts of messages."""
    found: list[Piece] = []
    for content in json.loads(body)["contents"]:
        for part in content["parts"]:
            panels = _panels(part.get("text", "")) if not found else []
            found += panels or [Piece("message", json.dumps([content["role"], part]))]
    return found


def _panels(text: str) -> list[Piece]:
    """Of the dynamic layer, which is an object with a key for each panel."""
    if not text.startswith("{\n"):
        return []
    panels: list[tuple[str, Any]] = json.loads(text, object_pairs_hook=list)
    return [Piece(key, json.dumps(value)) for key, value in panels]


def shared(before: Sequence[Piece], now: Sequence[Piece]) -> int:
    """Pieces at the beginning that are the same to the character."""
    count = 0
    for one, other in zip(before, now, strict=False):
        if one != other:
            break
        count += 1
    return count


def changed(before: Sequence[Piece], now: Sequence[Piece]) -> set[str]:
    """The panels that have another text, came, or went."""
    was = {piece.name: piece.text for piece in before if piece.name != "message"}
    is_now = {piece.name: piece.text for piece in now if piece.name != "message"}
    return {name for name in was.keys() | is_now.keys() if was.get(name) != is_now.get(name)}
