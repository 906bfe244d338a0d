"""The items of a logical prompt, and what the model reads of each: pieces of decoded text with their places.

Items are compared by what they say (decoded text, canonical JSON); whether a body is faithful is a question
of bytes, which is asked elsewhere.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from typing import NamedTuple

from sessions_app.prompt import wire
from sessions_app.prompt.json_places import Member, bytes_of, members, respelled
from sessions_app.prompt.parts import PARTS_KEY, TEXT_KEY, file_of, plain_key
from sessions_app.prompt.spellings import spelled_alike
from sessions_app.prompt.tokens import estimate, estimate_part

TEXT_KIND, DECLARATIONS_KIND = "text", "declarations"
"""Kinds of items that are no content: a piece of a layer's text, and the tools."""

CACHED_CONTENT = "cached_content"
"""Names of sources begin so that a program put into a cache; their number follows."""


# No slots: the cached properties need the instance dictionary.
@dataclass(frozen=True)
class PromptItem:
    """One item of a request, in reading order. Equal `key`: equal bytes. `size` is their number.

    `start` is where they begin in the body, None when a named cache holds them.
    """

    layer: str
    source: str
    role: str
    kind: str
    key: Hashable
    tokens: int
    size: int
    read: Callable[[], bytes] = field(compare=False, repr=False)
    start: int | None = None

    @property
    def identity(self) -> Hashable:
        """Equal for items that say the same in the same bytes."""
        return self.key, self.role, self.kind, self.layer if self.kind == TEXT_KIND else ""

    @cached_property
    def wire(self) -> bytes:
        return self.read()

    @cached_property
    def meaning(self) -> str:
        """The canonical hash: equal for items that say the same in other bytes."""
        return sha256(b"\0".join(piece.meaning for piece in pieces_of(self))).hexdigest()

    def says_the_same_as(self, other: "PromptItem") -> bool:
        if self.role != other.role or self.kind != other.kind:
            return False
        return self.key == other.key or self.meaning == other.meaning


class TextPiece(NamedTuple):
    """Text of an item that stands in one place of its bytes.

    `label` says what it is (role and kind), empty for a text that continues the one before it. `part` counts
    from 1 in a content. `tokens` is 0 for what models do not count; `is_whole`: its beginning alone counts 0.
    """

    label: str
    text: str
    meaning: bytes
    part: int | None
    start: int
    end: int
    tokens: int
    is_string: bool = True
    is_whole: bool = False

    def byte_of(self, body: bytes, chars: int) -> int:
        """Where in the bytes of the item the character after so many stands."""
        written = body[self.start : self.end]
        if self.is_string:
            return self.start + bytes_of(written, chars)
        spelling = self.text.encode()
        return self.start + respelled(spelling, len(self.text[:chars].encode()), written)

    def tokens_of(self, chars: int) -> int:
        """Estimated tokens of its first characters."""
        if chars >= len(self.text):
            return self.tokens
        return 0 if self.is_whole else min(self.tokens, estimate(self.text[:chars]))


def pieces_of(item: PromptItem, *, continues: bool = False) -> list[TextPiece]:
    """The text of an item. `continues`: the item before it is of the same text."""
    body = item.wire
    if item.kind == TEXT_KIND:
        label = "" if continues else f"{item.role}:{TEXT_KIND}"
        try:
            text: str = wire.loads(b'"' + body + b'"')
        except ValueError:
            return [_opaque(item)]
        return [TextPiece(label, text, _coded(text), None, 0, len(body), estimate(text))]
    whole = Member("", 0, len(body))
    try:
        found = enumerate(_parts_in(body) if item.kind != DECLARATIONS_KIND else (), start=1)
        pieces = [piece for number, part in found for piece in _of_part(item.role, body, part, number)]
        return pieces or [_whole(item, whole)]
    except ValueError:
        return [_opaque(item)]


def _parts_in(body: bytes) -> Iterable[Member]:
    """Where the parts of a content stand, also one without a list; nothing for other JSON."""
    found = next((member for member in members(body) if member.name == PARTS_KEY), None)
    if found is None:
        return ()
    return (found,) if body[found.start : found.start + 1] == b"{" else members(body, found.start)


def _of_part(role: str, body: bytes, part: Member, number: int) -> Iterator[TextPiece]:
    """What is said first, then what stands beside it, such as a signature."""
    value = wire.loads(body[part.start : part.end])
    if not isinstance(value, dict):
        yield _value(role, body, part, number, 0)
        return
    tokens, is_file = estimate_part(value), file_of(value) is not None
    found = sorted(members(body, part.start), key=lambda one: (one.name != TEXT_KEY, plain_key(one.name)))
    for rank, member in enumerate(found):
        label, cost = f"{role}:{plain_key(member.name)}", 0 if rank else tokens
        if member.name == TEXT_KEY and isinstance(text := value[TEXT_KEY], str):
            yield TextPiece(label, text, _coded(text), number, member.start + 1, member.end - 1, cost)
        else:
            yield _value(label, body, member, number, cost)._replace(is_whole=is_file)


def _whole(item: PromptItem, place: Member) -> TextPiece:
    piece = _value(item.kind, item.wire, place, None, item.tokens)
    if item.kind != DECLARATIONS_KIND:
        return piece
    return piece._replace(meaning=wire.canonical(spelled_alike(wire.loads(item.wire))))


def _value(label: str, body: bytes, place: Member, part: int | None, tokens: int) -> TextPiece:
    value = wire.loads(body[place.start : place.end])
    text = wire.dumps(value).decode()
    return TextPiece(
        label, text, wire.canonical(value), part, place.start, place.end, tokens, is_string=False
    )


def _opaque(item: PromptItem) -> TextPiece:
    """Bytes that are not what their kind says: read as Latin-1, so that a character is a byte."""
    text = item.wire.decode("latin-1")
    return TextPiece("opaque", text, item.wire, None, 0, len(item.wire), item.tokens, is_string=False)


def _coded(text: str) -> bytes:
    return text.encode(errors="surrogatepass")
