"""Where two prompts part: both are written out as text from the start, and the texts are compared."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from sessions_app.audit.rows import StoredItem

TEXT, DECLARATIONS = "text", "declarations"

AS_WRITTEN = ("parameters_json_schema", "response_json_schema", "default", "example", "enum")
NAMED_BY_A_PERSON = ("properties", "defs")
"""In declarations: what is no name of the protocol in any spelling."""


class Place(NamedTuple):
    """`item` counts from 0, `part` from 1 (None outside a content), `char` in the text of the piece."""

    item: int
    part: int | None
    char: int


class Parting(NamedTuple):
    """`now` is the place in the later prompt, `was` the item of the earlier one that stood there.

    `is_end`: the later one has nothing there.
    """

    now: Place
    was: int
    is_end: bool = False


class Piece(NamedTuple):
    """`meaning` is equal for values that say the same, whatever the order of their keys."""

    label: str
    text: str
    meaning: str
    item: int
    part: int | None


@dataclass(slots=True)
class Passage:
    """Pieces that the model reads as one text."""

    label: str
    pieces: list[Piece] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "".join(piece.text for piece in self.pieces)

    @property
    def meaning(self) -> str:
        return "".join(piece.meaning for piece in self.pieces)

    @property
    def end(self) -> Place:
        last = self.pieces[-1]
        return Place(last.item, last.part, len(last.text))

    def place(self, chars: int) -> Place:
        """The place behind so many characters: the beginning of what follows, or the end."""
        for piece in self.pieces:
            if chars < len(piece.text):
                return Place(piece.item, piece.part, chars)
            chars -= len(piece.text)
        return self.end


def parting(before: Sequence[StoredItem], now: Sequence[StoredItem]) -> Parting | None:
    """The first place of `now` that says something else than `before`; None if it begins with all of it."""
    if [item.source for item in before] == [item.source for item in now[: len(before)]]:
        return None
    old, new = passages(before), passages(now)
    end = Place(0, None, 0)
    for index, one in enumerate(old):
        if index >= len(new):
            return Parting(end, one.pieces[0].item, is_end=True)
        other = new[index]
        if one.label != other.label:
            return Parting(Place(other.pieces[0].item, other.pieces[0].part, 0), one.pieces[0].item)
        if one.meaning != other.meaning:
            chars = common_length(one.text, other.text)
            return Parting(other.place(chars), one.place(chars).item)
        end = other.end
    return None


def grown_item(before: Sequence[StoredItem], now: Sequence[StoredItem]) -> int | None:
    """The item of `now` within which `before` ends, since a client has added parts to it; else None."""
    old, new = passages(before), passages(now)
    if not old or len(new) <= len(old):
        return None
    last, following = new[len(old) - 1].pieces[-1].item, new[len(old)].pieces[0].item
    return last if last == following else None


def common_length(one: str, other: str) -> int:
    pairs = zip(one, other, strict=False)
    return next((at for at, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def passages(items: Sequence[StoredItem]) -> list[Passage]:
    found: list[Passage] = []
    for at, item in enumerate(items):
        joined = at > 0 and item.kind == TEXT == items[at - 1].kind and item.layer == items[at - 1].layer
        for piece in pieces(at, item):
            if not (joined and found):
                found.append(Passage(piece.label))
            found[-1].pieces.append(piece)
    return found


def meaning(item: StoredItem) -> tuple[str, str, str]:
    return item.role, item.kind, "\0".join(piece.meaning for piece in pieces(0, item))


def pieces(at: int, item: StoredItem) -> Iterator[Piece]:
    try:
        yield from list(_pieces(at, item))
    except ValueError:
        text = item.body.decode("latin-1")
        yield Piece("opaque", text, text, at, None)


def _pieces(at: int, item: StoredItem) -> Iterator[Piece]:
    if item.kind == TEXT:
        text = json.loads(b'"' + item.body + b'"')
        yield Piece(f"{item.role}:{TEXT}", text, text, at, None)
        return
    value = json.loads(item.body)
    parts = value.get("parts") if isinstance(value, dict) and item.kind != DECLARATIONS else None
    parts = [parts] if isinstance(parts, dict) else parts
    # Parts that hold nothing say nothing: such a content is compared as a whole.
    if not (isinstance(parts, list) and any(part != {} for part in parts)):
        piece = _value(item.kind, value, at, None)
        said = json.dumps(_in_snake_case(value), sort_keys=True)
        yield piece._replace(meaning=said) if item.kind == DECLARATIONS else piece
        return
    for number, part in enumerate(parts, start=1):
        if not isinstance(part, dict):
            yield _value(item.role, part, at, number)
            continue
        for name in sorted(part, key=lambda one: (one != TEXT, _snake(one))):
            label, held = f"{item.role}:{_snake(name)}", part[name]
            if name == TEXT and isinstance(held, str):
                yield Piece(label, held, held, at, number)
            else:
                yield _value(label, held, at, number)


def _value(label: str, value: Any, at: int, part: int | None) -> Piece:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return Piece(label, text, json.dumps(value, sort_keys=True), at, part)


def _in_snake_case(declared: Any, is_own: bool = False) -> Any:
    """Declarations in one spelling; `is_own`: a person named the members."""
    if isinstance(declared, list):
        return [_in_snake_case(one) for one in declared]
    if not isinstance(declared, dict):
        return declared
    spelled = {name: name if is_own else _snake(name) for name in declared}
    if len(set(spelled.values())) != len(declared):
        spelled = {name: name for name in declared}
    return {
        spelled[name]: one
        if not is_own and spelled[name] in AS_WRITTEN
        else _in_snake_case(one, is_own=not is_own and spelled[name] in NAMED_BY_A_PERSON)
        for name, one in declared.items()
    }


def _snake(name: str) -> str:
    return re.sub("([A-Z])", r"_\1", name).lower()
