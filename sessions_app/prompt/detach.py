"""When old turns move from the buffer into a history chunk, and the chunk's text (seed 4, reference B1).

A message of the reference is one turn here: all results of a step are one turn, and so are an
answer's text and its calls.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sessions_app.prompt import wire
from sessions_app.prompt.calls import calls_of
from sessions_app.prompt.content_memory import remembered
from sessions_app.prompt.parts import RawPart, code_in, file_of, is_thought, parts_in, raw_parts, response_of
from sessions_app.prompt.tokens import estimate
from sessions_app.prompt.turns import Turn, TurnKind

USER_TEXTS = (TurnKind.USER_TASK, TurnKind.COMPRESSED_HISTORY)


@dataclass(frozen=True, slots=True)
class Thresholds:
    """The minimum of a chunk and of what stays in the buffer; all four must be met."""

    chunk_messages: int
    chunk_tokens: int
    keep_messages: int
    keep_tokens: int


SEED = Thresholds(chunk_messages=25, chunk_tokens=5_000, keep_messages=25, keep_tokens=7_500)


def cuts(turns: Sequence[Turn], thresholds: Thresholds) -> tuple[int, ...]:
    """The ends of the chunks to detach, as indices in `turns`, oldest first.

    `turns` are those not in a chunk yet; the last user text and what follows it always stay.
    """
    if len(turns) < thresholds.chunk_messages + thresholds.keep_messages:
        return ()
    tokens = _counted_tokens.of_all([turn.wire for turn in turns])
    limit = max((index for index, turn in enumerate(turns) if turn.kind in USER_TEXTS), default=0)
    found: list[int] = []
    start = 0
    while (end := _cut(turns, tokens, start, thresholds)) and end <= limit:
        found.append(end)
        start = end
    return tuple(found)


def is_boundary(turns: Sequence[Turn], index: int) -> bool:
    """Whether a chunk may end with this turn: a user text follows, or nothing."""
    return index + 1 == len(turns) or turns[index + 1].kind in USER_TEXTS


def chunk_text(turns: Sequence[Turn]) -> str:
    """The turns as text for the static layer; empty when they have no text, calls or results."""
    return "".join(line for turn in turns for line in _lines(turn))


def turn_tokens(turn: Turn) -> int:
    """Estimated tokens of a turn: texts, names and arguments of calls, results (B2)."""
    return _counted_tokens(turn.wire)


@remembered
def _counted_tokens(content: bytes) -> int:
    parts = raw_parts(content)
    total = sum(estimate(_counted_text(part)) for part in parts)
    for call in calls_of(parts):
        total += estimate(call.name) + estimate(wire.dumps(call.args))
    return total


def _cut(turns: Sequence[Turn], tokens: Sequence[int], start: int, thresholds: Thresholds) -> int:
    """The end of the smallest chunk from `start` that may be detached; 0 for none."""
    count, total = len(turns) - start, sum(tokens[start:])
    is_enough = (
        count >= thresholds.chunk_messages + thresholds.keep_messages
        and total >= thresholds.chunk_tokens + thresholds.keep_tokens
    )
    leaving = 0
    for end in range(start + 1, len(turns) + 1) if is_enough else ():
        leaving += tokens[end - 1]
        is_chunk = end - start >= thresholds.chunk_messages and leaving >= thresholds.chunk_tokens
        if is_chunk and is_boundary(turns, end - 1):
            stays = len(turns) - end >= thresholds.keep_messages and total - leaving >= thresholds.keep_tokens
            return end if stays and chunk_text(turns[start:end]) else 0
    return 0


def _lines(turn: Turn) -> list[str]:
    parts = raw_parts(turn.wire)
    text = "".join(_part_text(part) for part in parts if response_of(part) is None)
    who = "assistant" if turn.kind.is_model else "user"
    calls = (f"tool_call {call.name}({wire.dumps(call.args).decode()})\n" for call in calls_of(parts))
    results = (f"{_result_text(found)}\n" for part in parts if (found := response_of(part)) is not None)
    return [*([f"[{who}]: {text}\n"] if text.strip() else []), *calls, *results]


def _counted_text(part: RawPart) -> str:
    response = response_of(part)
    return _part_text(part) if response is None else _result_text(response)


def _part_text(part: RawPart) -> str:
    """A part as text: its text; code and its output as JSON; of media the type; no thoughts."""
    if is_thought(part):
        return ""
    if isinstance(part.get("text"), str):
        return str(part["text"])
    if file := file_of(part):
        return f"({file.mime or 'a file'}, not repeated)\n"
    code = code_in(part)
    return wire.dumps(code).decode() + "\n" if code else ""


def _result_text(response: dict[str, Any]) -> str:
    """A result as text: its only value if that is a string and no error, else JSON; of files the types."""
    files = "".join(f"\n{_part_text(part).rstrip()}" for part in parts_in(response))
    given = response.get("response")
    if isinstance(given, dict) and len(given) == 1:
        (only,) = given.values()
        if isinstance(only, str) and "error" not in given:
            return only + files
    return wire.dumps(given).decode() + files
