"""When old turns leave the buffer and freeze into a history chunk (seed 4, reference B1).

A message of the reference is one turn here: all results of a step are one turn, and so are an
answer's text and its calls.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sessions_app.prompt import wire
from sessions_app.prompt.calls import calls_of
from sessions_app.prompt.history import response_of
from sessions_app.prompt.tokens import estimate
from sessions_app.prompt.turns import Turn, TurnKind, raw_parts

USER_TEXTS = (TurnKind.USER_TASK, TurnKind.COMPRESSED_HISTORY)


@dataclass(frozen=True, slots=True)
class Thresholds:
    """What a chunk must at least hold, and what must at least stay; all four must be met."""

    chunk_messages: int
    chunk_tokens: int
    keep_messages: int
    keep_tokens: int


SEED = Thresholds(chunk_messages=25, chunk_tokens=5_000, keep_messages=25, keep_tokens=7_500)


def cuts(turns: Sequence[Turn], thresholds: Thresholds) -> tuple[int, ...]:
    """Where to cut, oldest first: each number is how many turns have left by then. Empty: nothing leaves.

    `turns` are those not in a chunk yet; the last user text and what follows it never leave.
    """
    if len(turns) < thresholds.chunk_messages + thresholds.keep_messages:
        return ()
    tokens = [tokens_of(turn) for turn in turns]
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
    """The turns as the static layer tells them; empty when they say nothing."""
    return "".join(line for turn in turns for line in _lines(turn))


def tokens_of(turn: Turn) -> int:
    """Estimated tokens of a turn: what it says, its calls' names and arguments, its results (B2)."""
    total = 0
    for part in raw_parts(turn.wire):
        total += estimate(_words(part))
    for call in calls_of(raw_parts(turn.wire)):
        total += estimate(call.name) + estimate(wire.dumps(call.args))
    return total


def _cut(turns: Sequence[Turn], tokens: Sequence[int], start: int, thresholds: Thresholds) -> int:
    """The end of the smallest chunk that may leave from `start` on; 0 when none may."""
    count, total = len(turns) - start, sum(tokens[start:])
    is_enough = (
        count >= thresholds.chunk_messages + thresholds.keep_messages
        and total >= thresholds.chunk_tokens + thresholds.keep_tokens
    )
    leaving = 0
    for end in range(start + 1, len(turns) + 1) if is_enough else ():
        leaving += tokens[end - 1]
        is_whole = end - start >= thresholds.chunk_messages and leaving >= thresholds.chunk_tokens
        if is_whole and is_boundary(turns, end - 1):
            stays = len(turns) - end >= thresholds.keep_messages and total - leaving >= thresholds.keep_tokens
            return end if stays and chunk_text(turns[start:end]) else 0
    return 0


def _lines(turn: Turn) -> list[str]:
    parts = raw_parts(turn.wire)
    text = "".join(_said(part) for part in parts if response_of(part) is None)
    who = "assistant" if turn.kind.is_model else "user"
    calls = (f"tool_call {call.name}({wire.dumps(call.args).decode()})\n" for call in calls_of(parts))
    results = (f"{_result(found)}\n" for part in parts if (found := response_of(part)) is not None)
    return [*([f"[{who}]: {text}\n"] if text.strip() else []), *calls, *results]


def _words(part: dict[str, Any]) -> str:
    response = response_of(part)
    return _said(part) if response is None else _result(response)


def _said(part: dict[str, Any]) -> str:
    """What a part says in a chunk: its text; code and its output as JSON; of media only the kind.

    Thoughts say nothing: they belong to the model, and their signature stays behind with them.
    """
    if part.get("thought") is True:
        return ""
    if isinstance(part.get("text"), str):
        return str(part["text"])
    if media := next((part[key] for key in _MEDIA if isinstance(part.get(key), dict)), None):
        return f"({media.get('mimeType') or media.get('mime_type') or 'a file'}, not repeated)\n"
    code = {key: part[key] for key in _CODE if key in part}
    return wire.dumps(code).decode() + "\n" if code else ""


def _result(response: dict[str, Any]) -> str:
    """A result as it was given: the bare text of a result that is one, else JSON."""
    given = response.get("response")
    if isinstance(given, dict) and len(given) == 1:
        (only,) = given.values()
        if isinstance(only, str) and "error" not in given:
            return only
    return wire.dumps(given).decode()


_MEDIA = ("inlineData", "inline_data", "fileData", "file_data")
_CODE = ("executableCode", "executable_code", "codeExecutionResult", "code_execution_result")
