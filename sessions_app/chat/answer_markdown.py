"""An answer as Markdown: its text, the code that the provider ran with its results, and JSON by a schema."""

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import groupby
from typing import NamedTuple

from sessions_app.models import Turn
from sessions_app.prompt import wire
from sessions_app.prompt.citations import Citations
from sessions_app.prompt.parts import PartView
from sessions_app.wording.provider_tools import CODE_RESULTS

_FENCES = re.compile(r"`{3,}")


class Told(NamedTuple):
    """The Markdown, and what it rests on with its places in it."""

    markdown: str
    citations: Citations


class _Piece(NamedTuple):
    """Text of the answer, or a block between it."""

    text: str
    is_block: bool


def told(turn: Turn) -> Told:
    """Places of citations are counted in the text alone: blocks before them move them on."""
    parts, citations = turn.parts, turn.cited
    if turn.schema_fit is not None:
        return Told(_json(parts), citations.model_copy(update={"places": ()}))
    pieces = _joined(list(_pieces(parts)))
    if not any(piece.is_block for piece in pieces):
        return Told("".join(piece.text for piece in pieces), citations)
    return Told("".join(piece.text for piece in pieces), _moved(citations, pieces))


def _pieces(parts: Sequence[PartView]) -> Iterator[_Piece]:
    for part in parts:
        if part.kind == "text":
            yield _Piece(part.text, is_block=False)
        elif part.kind == "executable_code":
            code = part.code or {}
            language = re.sub(r"\W", "", str(code.get("language") or "")).lower()
            yield _Piece(_block(str(code.get("code", "")), language), is_block=True)
        elif part.kind == "code_execution_result":
            result = part.code_result or {}
            outcome = str(result.get("outcome", "OUTCOME_OK"))
            output = str(result.get("output", "")) or CODE_RESULTS["nothing"]
            kind = CODE_RESULTS["done" if outcome == "OUTCOME_OK" else "failed"]
            yield _Piece(_block(output, kind), is_block=True)


def _joined(pieces: Sequence[_Piece]) -> list[_Piece]:
    """Adjacent texts as one; blocks stand in lines of their own."""
    found = []
    for is_block, run in groupby(pieces, key=lambda piece: piece.is_block):
        texts = [piece.text for piece in run]
        text = "\n\n" + "\n\n".join(texts) + "\n\n" if is_block else "".join(texts)
        found.append(_Piece(text, is_block))
    return found


def _moved(citations: Citations, pieces: Sequence[_Piece]) -> Citations:
    """A place ends in the piece in which its last character stands."""
    ends: list[tuple[int, int]] = []
    said = inserted = 0
    for piece in pieces:
        if piece.is_block:
            inserted += len(piece.text)
        else:
            said += len(piece.text)
            ends.append((said, inserted))
    moved = []
    for place in citations.places:
        by = next((inserted for end, inserted in ends if place.end <= end), 0)
        moved.append(place.model_copy(update={"end": place.end + by}))
    return citations.model_copy(update={"places": tuple(moved)})


def _json(parts: Sequence[PartView]) -> str:
    text = "".join(part.text for part in parts if part.kind == "text")
    with suppress(ValueError):
        text = wire.readable(wire.loads(text))
    return _block(text, "json") if text else ""


def _block(text: str, kind: str) -> str:
    longest = max((len(found[0]) for found in _FENCES.finditer(text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{kind}\n{text.rstrip()}\n{fence}"
