"""Whether a history may be sent: the four rules of seed 3, and Gemini's own (gemini-wire §5.2).

The four rules know three kinds of messages: a person's text, an assistant's text with or without
calls, and ONE message with all results of a step. Gemini's rules look at the parts themselves.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from typing import Any, Literal

from sessions_app.prompt.calls import Call, call_of, calls_of
from sessions_app.prompt.turns import Turn, raw_parts

QUOTE_LENGTH = 60
"""Characters of a message that a sentence about it quotes."""

Parts = Sequence[dict[str, Any]]


class Rule(StrEnum):
    """The first four are seed 3's, in its order; the others are Gemini's."""

    UNANSWERED = "unanswered"
    IDS = "ids"
    ORPHAN = "orphan"
    SEQUENCE = "sequence"
    EMPTY = "empty"
    CALL_AFTER_MODEL = "call_after_model"
    COUNT = "count"
    ORDER = "order"
    MISPLACED = "misplaced"


@dataclass(frozen=True, slots=True)
class Violation:
    """A rule that the message at `index` breaks, in words for a person."""

    index: int
    rule: Rule
    words: str


@dataclass(frozen=True, slots=True)
class Message:
    """A turn as the four rules see it: `ids` of its calls or of its results.

    `says` is how a sentence names it.
    """

    role: Literal["user", "assistant", "tool"]
    ids: tuple[str, ...] = ()
    says: str = ""

    @property
    def calls(self) -> bool:
        return self.role == "assistant" and bool(self.ids)


def validate(messages: Sequence[Message]) -> tuple[Violation, ...]:
    """Every breach of the four rules, the one that counts first (seed 3 stops there)."""
    found: list[Violation] = []
    for index, message in enumerate(messages):
        before = messages[index - 1] if index else None
        after = messages[index + 1] if index + 1 < len(messages) else None
        found += (Violation(index, rule, words) for rule, words in _breaches(message, before, after))
    return tuple(found)


def violations(turns: Sequence[Turn]) -> tuple[Violation, ...]:
    """Every breach of the four rules and of Gemini's, in the order of the turns."""
    contents = [(turn, raw_parts(turn.wire)) for turn in turns]
    # Every rule but one is about calls and their results, and most conversations have neither.
    if all(_is_plain(parts) for _, parts in contents):
        return ()
    found = [*validate(_messages(contents)), *_refusals(contents)]
    return tuple(sorted(found, key=lambda breach: breach.index))


def responses_of(parts: Parts) -> list[dict[str, Any]]:
    """The `functionResponse` objects of a content, in order."""
    found = (response_of(part) for part in parts)
    return [response for response in found if response is not None]


def response_of(part: dict[str, Any]) -> dict[str, Any] | None:
    found = part.get("functionResponse", part.get("function_response"))
    return found if isinstance(found, dict) else None


def is_misplaced(turn: Turn, part: dict[str, Any]) -> bool:
    """Whether the part is a result among the model's words, or a call in a person's message."""
    return response_of(part) is not None if turn.kind.is_model else call_of(part) is not None


def id_of(response: dict[str, Any]) -> str:
    """The id of a `functionResponse`, without the spaces around it; often empty."""
    return str(response.get("id") or "").strip()


def _is_plain(parts: Parts) -> bool:
    """Whether a content says something, and neither calls nor answers a tool."""
    plain = (part and call_of(part) is None and response_of(part) is None for part in parts)
    return bool(parts) and all(plain)


def _breaches(message: Message, before: Message | None, after: Message | None) -> Iterable[tuple[Rule, str]]:
    if message.calls:
        if after is None or after.role != "tool":
            yield Rule.UNANSWERED, f"{message.says} is not followed by its tool results at once."
        else:
            yield from _mismatch(message, after)
    if message.role == "tool":
        if before is None or not before.calls:
            yield Rule.ORPHAN, f"{message.says} stands without the call that asked for it."
        if after is not None and after.role != "assistant":
            yield Rule.SEQUENCE, f"{after.says} comes right after {_lower(message.says)}, before any answer."


def _mismatch(calls: Message, results: Message) -> Iterable[tuple[Rule, str]]:
    asked, given = _known(calls.ids), _known(results.ids)
    missing = [one for one in asked if one not in given]
    strays = [one for one in given if one not in asked]
    if missing:
        yield Rule.IDS, f"{calls.says} has no tool result for “{missing[0]}”."
    elif strays:
        yield Rule.IDS, f"{results.says} answers “{strays[0]}”, which was not called."


def _known(ids: Iterable[str]) -> list[str]:
    return [one.strip() for one in ids if one.strip()]


def _messages(contents: Sequence[tuple[Turn, Parts]]) -> list[Message]:
    calls = [calls_of(parts) if turn.kind.is_model else () for turn, parts in contents]
    results = [[] if turn.kind.is_model else responses_of(parts) for turn, parts in contents]
    told = [_message(turn, parts) for turn, parts in contents]
    for index, asked in enumerate(calls):
        given = results[index + 1] if index + 1 < len(results) else []
        if asked:
            named = _ids(asked, given)
            told[index] = Message("assistant", named[0], _naming("The call of", [one.name for one in asked]))
            if given:
                told[index + 1] = Message("tool", named[1], told[index + 1].says)
    return told


def _message(turn: Turn, parts: Parts) -> Message:
    given = responses_of(parts)
    if turn.kind.is_model:
        return Message("assistant", (), f"The answer {_quoted(parts)}")
    if given:
        names = [str(one.get("name", "")) for one in given]
        return Message("tool", tuple(map(id_of, given)), _naming("The tool result of", names))
    return Message("user", (), f"The message {_quoted(parts)}")


def _ids(asked: Sequence[Call], given: Sequence[dict[str, Any]]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Ids of calls and results; by name and count where Gemini gave none to all of them."""
    theirs = tuple(call.id.strip() for call in asked), tuple(map(id_of, given))
    if all(theirs[0]) and all(theirs[1]):
        return theirs
    return _counted(call.name for call in asked), _counted(str(one.get("name", "")) for one in given)


def _counted(names: Iterable[str]) -> tuple[str, ...]:
    seen: Counter[str] = Counter()
    told: list[str] = []
    for name in names:
        seen[name] += 1
        told.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return tuple(told)


def _refusals(contents: Sequence[tuple[Turn, Parts]]) -> Iterable[Violation]:
    for index, (turn, parts) in enumerate(contents):
        if not parts or not all(parts):
            yield Violation(index, Rule.EMPTY, "A message of the history holds nothing.")
        elif any(is_misplaced(turn, part) for part in parts):
            yield Violation(index, Rule.MISPLACED, "A call or a tool result stands on the wrong side.")
    for index, ((turn, parts), (following, answers)) in enumerate(pairwise(contents), start=1):
        if turn.kind.is_model:
            rule = _between(following, calls_of(parts), answers)
            if rule is not None:
                yield Violation(index, rule, _BETWEEN[rule])


_BETWEEN = {
    Rule.CALL_AFTER_MODEL: "The model calls a tool right after an answer of its own.",
    Rule.COUNT: "The number of tool results is not the number of calls.",
    Rule.ORDER: "The tool results do not stand in the order of the calls.",
}


def _between(following: Turn, asked: Sequence[Call], answers: Parts) -> Rule | None:
    if following.kind.is_model:
        return Rule.CALL_AFTER_MODEL if calls_of(answers) else None
    given = responses_of(answers)
    if not asked or not given:
        return None
    if len(asked) != len(given):
        return Rule.COUNT
    is_ordered = [call.name for call in asked] == [one.get("name") for one in given]
    return None if is_ordered else Rule.ORDER


def _naming(before: str, names: Sequence[str]) -> str:
    return f"{before} " + ", ".join(f"“{name}”" for name in names)


def _quoted(parts: Parts) -> str:
    text = next((part["text"] for part in parts if isinstance(part.get("text"), str) and part["text"]), "…")
    first = " ".join(text.split())
    return f"“{first[:QUOTE_LENGTH]}{'…' if len(first) > QUOTE_LENGTH else ''}”"


def _lower(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:]
