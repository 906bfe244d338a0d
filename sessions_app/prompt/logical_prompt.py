"""The logical prompt: what the model reads of a request, as decoded text in reading order.

Reading order is tools, system instruction, contents, whatever the order on the wire, and what a named cache
holds belongs to it. The common beginning of two prompts is counted in that text.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile, zip_longest
from typing import NamedTuple

from sessions_app.prompt.prefix_diff import common_prefix
from sessions_app.prompt.prompt_items import TEXT_KIND, PromptItem, TextPiece, pieces_of

CONTEXT_LENGTH = 40
"""Characters shown before and after the place where two prompts part."""


class Spot(NamedTuple):
    """A place: `item` counts from 0 in the request, `chars` are those before it in the piece."""

    item: int
    piece: TextPiece
    chars: int


@dataclass(frozen=True, slots=True)
class Parting:
    """Where two prompts part: `place` in the later one, behind all that both say; `lead` is the end of that.

    `was` and `now` are the items that begin where both prompts last began one at the same place of the text,
    None where the text of a layer ended there instead. `is_end`: nothing follows in the later prompt.
    """

    place: Spot
    lead: str
    was: int | None
    was_text: str
    now: int | None
    now_text: str
    is_end: bool = False


@dataclass(frozen=True, slots=True)
class SharedPrefix:
    """What two prompts begin with: whole items of the later one, and estimated tokens, with the share of the
    broken item. `parting` is None when the later prompt begins with all of the earlier one.
    """

    items: int
    tokens: int
    parting: Parting | None


class _Part(NamedTuple):
    """A piece of a text; `begins`: it is the first of its item."""

    item: int
    piece: TextPiece
    begins: bool


@dataclass(frozen=True, slots=True)
class _Text:
    """Pieces that the model reads as one text."""

    label: str
    parts: list[_Part]

    @property
    def text(self) -> str:
        return "".join(part.piece.text for part in self.parts)

    @property
    def meaning(self) -> bytes:
        return b"".join(part.piece.meaning for part in self.parts)

    @property
    def begin(self) -> Spot:
        return Spot(self.parts[0].item, self.parts[0].piece, 0)

    @property
    def end(self) -> Spot:
        item, piece, _ = self.parts[-1]
        return Spot(item, piece, len(piece.text))

    def spot(self, chars: int) -> Spot | None:
        """The spot after so many characters; None at the end."""
        for item, piece, _ in self.parts:
            if chars < len(piece.text):
                return Spot(item, piece, chars)
            chars -= len(piece.text)
        return None

    @property
    def begins(self) -> dict[int, int | None]:
        """Characters before each item that begins here, and before the end, where none does."""
        found: dict[int, int | None] = {}
        chars = 0
        for item, piece, begins in self.parts:
            if begins:
                found[chars] = item
            chars += len(piece.text)
        return {chars: None} | found


_Pair = tuple[int | None, int | None]


def shared_prefix(before: Sequence[PromptItem], now: Sequence[PromptItem]) -> SharedPrefix:
    """How far `now` says what `before` said. Items with equal keys at the beginning are not read."""
    whole = first = common_prefix([item.identity for item in before], [item.identity for item in now])
    if first == len(before):
        return SharedPrefix(whole, _sum(now[:whole]), None)
    last = _last(now[:first])
    pair: _Pair = (first, first)
    for one, other in zip_longest(_texts(before, first), _texts(now, first)):
        if one is None:
            return _grown(now, whole, other)
        if other is None or one.label != other.label:
            return _parted(now, one, other, last or one, (0, _pair_at(one, other, 0, pair)))
        at = common_length(one.text, other.text) if one.meaning != other.meaning else len(other.text)
        pair = _pair_at(one, other, at, pair)
        if one.meaning != other.meaning:
            return _parted(now, one, other, last or one, (at, pair))
        last, whole = other, other.end.item + 1
    return SharedPrefix(whole, _sum(now[:whole]), None)


def common_length(old: str, new: str) -> int:
    """The number of equal leading characters."""
    low, high = 0, min(len(old), len(new))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if old[low:middle] == new[low:middle] else (low, middle - 1)
    return low


def _last(items: Sequence[PromptItem]) -> _Text | None:
    """The text with which these items end, from their last item."""
    found = list(_texts(items, len(items) - 1)) if items else []
    return found[-1] if found else None


def _texts(items: Sequence[PromptItem], first: int) -> Iterator[_Text]:
    """The texts of the items from `first` on; a text that begins before it has no label."""
    text: _Text | None = None
    for at in range(first, len(items)):
        pieces = pieces_of(items[at], continues=at > 0 and _is_continued(items[at - 1], items[at]))
        for rank, piece in enumerate(pieces):
            part = _Part(at, piece, not rank)
            if text is not None and not piece.label:
                text.parts.append(part)
                continue
            if text is not None:
                yield text
            text = _Text(piece.label, [part])
    if text is not None:
        yield text


def _is_continued(one: PromptItem, other: PromptItem) -> bool:
    return one.kind == other.kind == TEXT_KIND and one.layer == other.layer


def _pair_at(one: _Text, other: _Text | None, at: int, known: _Pair) -> _Pair:
    """The items that begin at the last place up to `at` where both texts begin one; `known` if none does."""
    if other is None:
        return one.parts[0].item, None
    old, new = one.begins, other.begins
    both = {chars: (old[chars], new[chars]) for chars in old.keys() & new.keys() if chars <= at}
    found = [chars for chars, pair in both.items() if pair != (None, None)]
    return both[max(found)] if found else known


def _parted(
    now: Sequence[PromptItem], one: _Text, other: _Text | None, last: _Text, found: tuple[int, _Pair]
) -> SharedPrefix:
    """`one` and `other` have so many characters in common as `found` says; `last` is the text before them."""
    at, (was, here) = found
    end = other.end if other and at else last.end
    # Where the earlier text goes on (it has no label) and the later one does not, the later one has ended.
    is_ended = other is None or (not one.label and bool(other.label))
    spot = (other.spot(at) if at else other.begin) if other and not is_ended else None
    place = spot or end
    parting = Parting(
        place,
        (other.text[:at] if other and at else last.text)[-CONTEXT_LENGTH:],
        was,
        one.text[at : at + CONTEXT_LENGTH],
        here,
        other.text[at : at + CONTEXT_LENGTH] if other else "",
        is_end=other is None,
    )
    tokens = _sum(now[: place.item]) + _share(now[place.item], place)
    return SharedPrefix(end.item + 1 if here is None else here, tokens, parting)


def _grown(now: Sequence[PromptItem], whole: int, further: _Text | None) -> SharedPrefix:
    """The earlier prompt has ended, perhaps within an item that has `further` parts now."""
    if further is None or further.begin.item >= whole:
        return SharedPrefix(whole, _sum(now[:whole]), None)
    item = further.begin.item
    return SharedPrefix(item, _sum(now[:item]) + _share(now[item], further.begin), None)


def _sum(items: Sequence[PromptItem]) -> int:
    return sum(item.tokens for item in items)


def _share(item: PromptItem, place: Spot) -> int:
    """Estimated tokens of an item up to a place in it."""
    before = takewhile(lambda piece: piece.start != place.piece.start, pieces_of(item))
    return min(item.tokens, sum(piece.tokens for piece in before) + place.piece.tokens_of(place.chars))
