"""The last look before sending: the provider's rules of structure (gemini-wire §5.2, 400 otherwise)."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from sessions_app.errors import PromptError
from sessions_app.prompt.calls import call_of, calls_of
from sessions_app.prompt.signatures import Finding, check
from sessions_app.prompt.turns import Turn, raw_parts

_Parts = list[dict[str, Any]]


def verify(turns: Sequence[Turn], *, required: bool) -> tuple[Finding, ...]:
    """Check buffered turns and trigger as they will be sent; `required` is whether calls must be signed.

    Returns what is worth knowing about signatures. Raises PromptError for what would be refused.
    """
    if not turns:
        raise PromptError("There is nothing to send: no turn is left.")
    contents = [(turn, raw_parts(turn.wire)) for turn in turns]
    for turn, parts in contents:
        _refuse_empty(turn, parts)
    if turns[-1].kind.is_model:
        raise PromptError(
            "The request would end with the model's own words; a message or tool responses must come last."
        )
    _answered_at_once(contents)
    findings = check(turns, required=required)
    unsigned = next((found for found in findings if found.code == "unsigned_call"), None)
    if unsigned is not None:
        raise PromptError(
            f"The first function call of turn {unsigned.turn} (part {unsigned.part}) has no signature.",
            hint="Dress the turns for the route before sending: the call then gets a stand-in.",
        )
    return findings


def _refuse_empty(turn: Turn, parts: _Parts) -> None:
    if not parts:
        raise PromptError(f"Turn {turn.key} has no parts and cannot be sent.")
    if not all(parts):
        raise PromptError(f"Turn {turn.key} holds an empty part and cannot be sent.")


def _answered_at_once(contents: Sequence[tuple[Turn, _Parts]]) -> None:
    if _responses(contents[0][1]):
        raise PromptError("The buffer begins with tool responses whose calls are not sent.")
    for (turn, parts), (following, answers) in pairwise(contents):
        calls, responses = calls_of(parts), _responses(answers)
        if len(calls) != len(responses):
            raise PromptError(_mismatch(turn, following, len(calls), len(responses)))
        if [call.name for call in calls] != [response.get("name") for response in responses]:
            raise PromptError(f"The tool responses of turn {following.key} are not in call order.")
        if calls and turn.kind.is_model and following.kind.is_model:
            raise PromptError(f"The tool responses of turn {following.key} stand in a model turn.")
        if _calls(answers) and turn.kind.is_model:
            raise PromptError(f"The calls of turn {following.key} come right after another model turn.")


def _mismatch(turn: Turn, following: Turn, calls: int, responses: int) -> str:
    if not responses:
        return f"The calls of turn {turn.key} are not answered right after it."
    if not calls:
        return f"The tool responses of turn {following.key} do not follow their calls."
    return f"Turn {turn.key} has {calls} calls, but turn {following.key} answers {responses}."


def _responses(parts: _Parts) -> list[dict[str, Any]]:
    found = (part.get("functionResponse", part.get("function_response")) for part in parts)
    return [response for response in found if isinstance(response, dict)]


def _calls(parts: _Parts) -> bool:
    return any(call_of(part) is not None for part in parts)
