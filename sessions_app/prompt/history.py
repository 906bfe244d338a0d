"""Validation of a history: the four rules of seed 3, and Gemini's own (gemini-wire §5.2).

The four rules are about three kinds of messages: a user's text, an assistant's text with or without
calls, and ONE message with all results of a step. Gemini's rules are about parts.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import pairwise
from typing import Any, Literal

from sessions_app.error_codes import RefusalCode
from sessions_app.errors import PromptError
from sessions_app.prompt.calls import FunctionCall, calls_of
from sessions_app.prompt.content_memory import remembered
from sessions_app.prompt.parts import call_of, raw_parts, response_of
from sessions_app.prompt.remarks import Remark, RemarkCode
from sessions_app.prompt.signatures import check_signatures
from sessions_app.prompt.turns import Turn

QUOTE_LENGTH = 60
"""Characters of a message that are quoted to identify it."""

Parts = Sequence[dict[str, Any]]
Breach = tuple["HistoryRule", dict[str, str]]


class HistoryRule(StrEnum):
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
    """A rule that the message at `index` breaks.

    `figures` identify the messages (`what` and `named`; `before_what`, `before_named` for the one before)
    and, for HistoryRule.IDS, the id that is `missing` in the results or `unasked` in the calls.
    """

    index: int
    rule: HistoryRule
    figures: Mapping[str, str] = field(default_factory=dict)

    def stored(self) -> dict[str, str]:
        return {"rule": self.rule.value, **self.figures}


@dataclass(frozen=True, slots=True)
class HistoryMessage:
    """A turn for the four rules: `ids` of its calls or of its results.

    `what` and `named` identify it in a sentence: by its tools, or by the beginning of its text.
    """

    role: Literal["user", "assistant", "tool"]
    ids: tuple[str, ...] = ()
    what: Literal["call", "answer", "results", "message"] = "message"
    named: str = ""

    @property
    def naming(self) -> dict[str, str]:
        return {"what": self.what, "named": self.named}

    @property
    def calls(self) -> bool:
        return self.role == "assistant" and bool(self.ids)


def validate(messages: Sequence[HistoryMessage]) -> tuple[Violation, ...]:
    """Every violation of the four rules, in order (seed 3 stops at the first)."""
    found: list[Violation] = []
    for index, message in enumerate(messages):
        before = messages[index - 1] if index else None
        after = messages[index + 1] if index + 1 < len(messages) else None
        found += (
            Violation(index, rule, figures) for rule, figures in _message_breaches(message, before, after)
        )
    return tuple(found)


def violations(turns: Sequence[Turn]) -> tuple[Violation, ...]:
    """Every violation of the four rules and of Gemini's, in the order of the turns."""
    # Most conversations have no calls and results, which nearly all rules are about.
    if all(_is_plain.of_all([turn.wire for turn in turns])):
        return ()
    contents = [(turn, raw_parts(turn.wire)) for turn in turns]
    found = [*validate(_messages(contents)), *_gemini_violations(contents)]
    return tuple(sorted(found, key=lambda violation: violation.index))


def responses_of(parts: Parts) -> list[dict[str, Any]]:
    """The `functionResponse` objects of a content, in order."""
    found = (response_of(part) for part in parts)
    return [response for response in found if response is not None]


def is_misplaced(turn: Turn, part: dict[str, Any]) -> bool:
    """Whether the part is a result in a model turn, or a call in a user turn."""
    return response_of(part) is not None if turn.kind.is_model else call_of(part) is not None


def id_of(response: dict[str, Any]) -> str:
    """The id of a `functionResponse`, stripped; often empty."""
    return str(response.get("id") or "").strip()


@remembered
def _is_plain(content: bytes) -> bool:
    """Whether a content has non-empty parts and neither calls nor results."""
    parts = raw_parts(content)
    plain = (part and call_of(part) is None and response_of(part) is None for part in parts)
    return bool(parts) and all(plain)


def _message_breaches(
    message: HistoryMessage, before: HistoryMessage | None, after: HistoryMessage | None
) -> Iterable[Breach]:
    if message.calls:
        if after is None or after.role != "tool":
            yield HistoryRule.UNANSWERED, message.naming
        else:
            yield from _id_breaches(message, after)
    if message.role == "tool":
        if before is None or not before.calls:
            yield HistoryRule.ORPHAN, message.naming
        if after is not None and after.role != "assistant":
            before_it = {"before_what": message.what, "before_named": message.named}
            yield HistoryRule.SEQUENCE, after.naming | before_it


def _id_breaches(calls: HistoryMessage, results: HistoryMessage) -> Iterable[Breach]:
    asked, given = _stripped(calls.ids), _stripped(results.ids)
    missing = [one for one in asked if one not in given]
    strays = [one for one in given if one not in asked]
    if missing:
        yield HistoryRule.IDS, calls.naming | {"missing": missing[0]}
    elif strays:
        yield HistoryRule.IDS, results.naming | {"unasked": strays[0]}


def _stripped(ids: Iterable[str]) -> list[str]:
    return [one.strip() for one in ids if one.strip()]


def _messages(contents: Sequence[tuple[Turn, Parts]]) -> list[HistoryMessage]:
    calls = [calls_of(parts) if turn.kind.is_model else () for turn, parts in contents]
    results = [[] if turn.kind.is_model else responses_of(parts) for turn, parts in contents]
    messages = [_message(turn, parts) for turn, parts in contents]
    for index, asked in enumerate(calls):
        given = results[index + 1] if index + 1 < len(results) else []
        if asked:
            named = _ids(asked, given)
            messages[index] = HistoryMessage(
                "assistant", named[0], "call", _listed(one.name for one in asked)
            )
            if given:
                messages[index + 1] = HistoryMessage("tool", named[1], "results", messages[index + 1].named)
    return messages


def _message(turn: Turn, parts: Parts) -> HistoryMessage:
    given = responses_of(parts)
    if turn.kind.is_model:
        return HistoryMessage("assistant", (), "answer", _quoted(parts))
    if given:
        names = _listed(str(one.get("name", "")) for one in given)
        return HistoryMessage("tool", tuple(map(id_of, given)), "results", names)
    return HistoryMessage("user", (), "message", _quoted(parts))


def _ids(
    asked: Sequence[FunctionCall], given: Sequence[dict[str, Any]]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Ids of calls and results; numbered names when an id is missing."""
    theirs = tuple(call.id.strip() for call in asked), tuple(map(id_of, given))
    if all(theirs[0]) and all(theirs[1]):
        return theirs
    return _numbered(call.name for call in asked), _numbered(str(one.get("name", "")) for one in given)


def _numbered(names: Iterable[str]) -> tuple[str, ...]:
    seen: Counter[str] = Counter()
    numbered: list[str] = []
    for name in names:
        seen[name] += 1
        numbered.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return tuple(numbered)


def _gemini_violations(contents: Sequence[tuple[Turn, Parts]]) -> Iterable[Violation]:
    for index, (turn, parts) in enumerate(contents):
        if not parts or not all(parts):
            yield Violation(index, HistoryRule.EMPTY)
        elif any(is_misplaced(turn, part) for part in parts):
            yield Violation(index, HistoryRule.MISPLACED)
    for index, ((turn, parts), (following, answers)) in enumerate(pairwise(contents), start=1):
        if turn.kind.is_model:
            rule = _pair_rule(following, calls_of(parts), answers)
            if rule is not None:
                yield Violation(index, rule)


def _pair_rule(following: Turn, asked: Sequence[FunctionCall], answers: Parts) -> HistoryRule | None:
    if following.kind.is_model:
        return HistoryRule.CALL_AFTER_MODEL if calls_of(answers) else None
    given = responses_of(answers)
    if not asked or not given:
        return None
    if len(asked) != len(given):
        return HistoryRule.COUNT
    is_ordered = [call.name for call in asked] == [one.get("name") for one in given]
    return None if is_ordered else HistoryRule.ORDER


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"“{name}”" for name in names)


def _quoted(parts: Parts) -> str:
    text = next((part["text"] for part in parts if isinstance(part.get("text"), str) and part["text"]), "…")
    first = " ".join(text.split())
    return f"“{first[:QUOTE_LENGTH]}{'…' if len(first) > QUOTE_LENGTH else ''}”"


def verify_structure(turns: Sequence[Turn], *, required: bool) -> tuple[Remark, ...]:
    """Check buffered turns and trigger as they will be sent; `required`: whether calls must be signed.

    Returns remarks on signatures. Raises PromptError for what the provider would refuse.
    """
    if not turns:
        raise PromptError(RefusalCode.NO_TURNS)
    is_plain = all(_is_plain.of_all([turn.wire for turn in turns]))
    contents = [] if is_plain else [(turn, raw_parts(turn.wire)) for turn in turns]
    for turn, parts in contents:
        _check_parts(turn, parts)
    if turns[-1].kind.is_model:
        raise PromptError(RefusalCode.ENDS_WITH_MODEL)
    # Neither rule is about plain contents.
    if not is_plain:
        _check_results(contents)
    findings = check_signatures(turns, required=required)
    unsigned = next((found for found in findings if found.code == RemarkCode.UNSIGNED_CALL), None)
    if unsigned is not None:
        raise PromptError(RefusalCode.UNSIGNED_FIRST_CALL, turn=unsigned.turn, part=unsigned.part)
    return findings


def _check_parts(turn: Turn, parts: Parts) -> None:
    if not parts:
        raise PromptError(RefusalCode.EMPTY_TURN, turn=turn.key)
    if not all(parts):
        raise PromptError(RefusalCode.EMPTY_PART, turn=turn.key)


def _check_results(contents: Sequence[tuple[Turn, Parts]]) -> None:
    if responses_of(contents[0][1]):
        raise PromptError(RefusalCode.BEGINS_WITH_RESULTS)
    for (turn, parts), (following, answers) in pairwise(contents):
        calls, responses = calls_of(parts), responses_of(answers)
        if len(calls) != len(responses):
            raise _count_error(turn, following, len(calls), len(responses))
        if [call.name for call in calls] != [response.get("name") for response in responses]:
            raise PromptError(RefusalCode.UNORDERED_RESULTS, turn=following.key)
        if calls and turn.kind.is_model and following.kind.is_model:
            raise PromptError(RefusalCode.RESULTS_OF_MODEL, turn=following.key)
        if turn.kind.is_model and any(call_of(part) is not None for part in answers):
            raise PromptError(RefusalCode.CALLS_AFTER_MODEL, turn=following.key)


def _count_error(turn: Turn, following: Turn, calls: int, results: int) -> PromptError:
    if not results:
        return PromptError(RefusalCode.UNANSWERED_CALLS, turn=turn.key)
    if not calls:
        return PromptError(RefusalCode.UNASKED_RESULTS, turn=following.key)
    return PromptError(
        RefusalCode.UNEQUAL_RESULTS, turn=turn.key, following=following.key, calls=calls, results=results
    )
