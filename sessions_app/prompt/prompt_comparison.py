"""Two requests compared in their logical prompts: what both say first, where they part, and what did it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sessions_app.prompt.break_culprit import Culprit, culprit_of
from sessions_app.prompt.logical_prompt import Parting, SharedPrefix, shared_prefix
from sessions_app.prompt.prefix_diff import BreakLine, BreakPlace
from sessions_app.prompt.prompt_items import PromptItem

CHUNKS = "chunk:"


@dataclass(frozen=True, slots=True)
class PromptComparison:
    """A request beside the one before it: what both say first, and where they part."""

    shared: SharedPrefix
    broken: BreakLine | None


def compare_prompts(before: Sequence[PromptItem], now: Sequence[PromptItem]) -> PromptComparison:
    """Turns in the break line have no number yet, since a prompt does not know its branch."""
    shared = shared_prefix(before, now)
    if shared.parting is None:
        return PromptComparison(shared, None)
    found = culprit_of(before, now, shared.parting)
    return PromptComparison(shared, _line(before if found.is_before else now, found, now, shared.parting))


def _line(
    items: Sequence[PromptItem], culprit: Culprit, now: Sequence[PromptItem], parting: Parting
) -> BreakLine:
    item = items[culprit.item]
    return BreakLine(
        culprit.kind,
        item.layer,
        item.source,
        _chunk_number(items, culprit.item),
        _place(now, parting),
        parting.lead,
        parting.was_text,
        parting.now_text,
    )


def _place(items: Sequence[PromptItem], parting: Parting) -> BreakPlace:
    at, piece, chars = parting.place
    item = items[at]
    inside = piece.byte_of(item.wire, chars)
    text = piece.text[:chars]
    return BreakPlace(
        item=at,
        layer=item.layer,
        source=item.source,
        number=_chunk_number(items, at),
        part=piece.part,
        line=text.count("\n") + 1 if piece.is_string else None,
        char=chars,
        layer_byte=inside + _size(one for one in items[:at] if one.layer == item.layer),
        body_byte=None if item.start is None else item.start + inside,
    )


def _chunk_number(items: Sequence[PromptItem], at: int) -> int:
    if not items[at].source.startswith(CHUNKS):
        return 0
    return sum(item.source.startswith(CHUNKS) for item in items[: at + 1])


def _size(items: Iterable[PromptItem]) -> int:
    return sum(item.size for item in items)
