"""How a reply ended, as one closed list."""

from enum import StrEnum


class Outcome(StrEnum):
    COMPLETE = "complete"
    CALLS = "calls"
    MAX_TOKENS = "max_tokens"
    NO_ROOM = "no_room"
    SAFETY = "safety"
    RECITATION = "recitation"
    LANGUAGE = "language"
    NO_IMAGE = "no_image"
    MALFORMED_CALL = "malformed_call"
    UNEXPECTED_CALL = "unexpected_call"
    MISSING_SIGNATURE = "missing_signature"
    BLOCKED = "blocked"
    EMPTY = "empty"
    UNFINISHED = "unfinished"
    FAILED = "failed"
    OTHER = "other"
    CONTINUES = "continues"
    UNKNOWN_REASON = "unknown_reason"

    @property
    def setting(self) -> str:
        """The session's setting that would change it, or empty."""
        return _SETTINGS.get(self, "")

    @property
    def is_answer(self) -> bool:
        """Whether the content may become a model turn of the history."""
        return self in (Outcome.COMPLETE, Outcome.CALLS, Outcome.MAX_TOKENS)


_SETTINGS = {
    Outcome.MAX_TOKENS: "continue_cut",
    Outcome.NO_ROOM: "thinking_level",
    Outcome.LANGUAGE: "language",
    Outcome.NO_IMAGE: "model",
    Outcome.MALFORMED_CALL: "tools",
    Outcome.UNEXPECTED_CALL: "tools",
    Outcome.MISSING_SIGNATURE: "history_policy",
    Outcome.BLOCKED: "background",
    Outcome.OTHER: "model",
    Outcome.UNKNOWN_REASON: "model",
}
"""Names of `SessionSettings`, or of the session's own columns."""

FINISH_NAMES = (
    "FINISH_REASON_UNSPECIFIED",
    "STOP",
    "MAX_TOKENS",
    "SAFETY",
    "RECITATION",
    "OTHER",
    "LANGUAGE",
    "BLOCKLIST",
    "PROHIBITED_CONTENT",
    "SPII",
    "MALFORMED_FUNCTION_CALL",
    "IMAGE_SAFETY",
    "UNEXPECTED_TOOL_CALL",
    "TOO_MANY_TOOL_CALLS",
)
"""Finish reasons by number, for responses with `enum-encoding=int` (recorded-traffic.md)."""

BLOCK_NAMES = (
    "BLOCKED_REASON_UNSPECIFIED",
    "SAFETY",
    "OTHER",
    "BLOCKLIST",
    "PROHIBITED_CONTENT",
    "IMAGE_SAFETY",
)

CONTINUATION = "CONTINUATION"
"""The answer reached the limit of one request and goes on with the next (gemini-wire, "Long decode")."""

_BY_FINISH = {
    "MAX_TOKENS": Outcome.MAX_TOKENS,
    "SAFETY": Outcome.SAFETY,
    "BLOCKLIST": Outcome.SAFETY,
    "PROHIBITED_CONTENT": Outcome.SAFETY,
    "SPII": Outcome.SAFETY,
    "IMAGE_SAFETY": Outcome.SAFETY,
    "IMAGE_PROHIBITED_CONTENT": Outcome.SAFETY,
    "MODEL_ARMOR": Outcome.SAFETY,
    "RECITATION": Outcome.RECITATION,
    "IMAGE_RECITATION": Outcome.RECITATION,
    "LANGUAGE": Outcome.LANGUAGE,
    "NO_IMAGE": Outcome.NO_IMAGE,
    "IMAGE_OTHER": Outcome.NO_IMAGE,
    "MALFORMED_FUNCTION_CALL": Outcome.MALFORMED_CALL,
    "MALFORMED_RESPONSE": Outcome.MALFORMED_CALL,
    "UNEXPECTED_TOOL_CALL": Outcome.UNEXPECTED_CALL,
    "TOO_MANY_TOOL_CALLS": Outcome.UNEXPECTED_CALL,
    "MISSING_THOUGHT_SIGNATURE": Outcome.MISSING_SIGNATURE,
    "ESCALATION": Outcome.SAFETY,
    "PUP_LIMITED_DISABLED": Outcome.SAFETY,
    "OTHER": Outcome.OTHER,
    CONTINUATION: Outcome.UNFINISHED,
}


def is_unknown(finish_reason: str) -> bool:
    """Whether the provider gave a reason that this version does not know: news, not failure."""
    return bool(finish_reason) and finish_reason != "STOP" and finish_reason not in _BY_FINISH


def name_of(value: object, names: tuple[str, ...]) -> str:
    """An enum value of the wire as its name; empty when unspecified, an unknown number in digits."""
    if isinstance(value, int) and not isinstance(value, bool):
        value = names[value] if 0 <= value < len(names) else str(value)
    return value if isinstance(value, str) and not value.endswith("_UNSPECIFIED") else ""


def outcome_of(
    finish_reason: str,
    *,
    has_calls: bool,
    has_answer: bool,
    has_parts: bool,
    is_torn: bool = False,
    goes_on: bool = False,
) -> Outcome:
    """The outcome of a reply that was neither blocked nor failed.

    `has_answer`: whether a part is neither a thought nor blank; `has_parts`: whether there are any parts;
    `is_torn`: whether a call was still open at the end; `goes_on`: whether there is a token to continue with.
    """
    if not finish_reason:
        return Outcome.UNFINISHED if has_parts else Outcome.EMPTY
    if finish_reason == "MAX_TOKENS":
        return Outcome.MAX_TOKENS if has_answer and not has_calls else _cut(has_calls)
    if finish_reason in _BY_FINISH:
        is_paused = finish_reason == CONTINUATION and goes_on
        return Outcome.CONTINUES if is_paused else _BY_FINISH[finish_reason]
    if finish_reason != "STOP" and (is_torn or not (has_calls or has_answer)):
        return Outcome.UNKNOWN_REASON
    if has_calls:
        return Outcome.CALLS
    return Outcome.COMPLETE if has_answer else Outcome.EMPTY


def _cut(has_calls: bool) -> Outcome:
    # A call that was cut off may lack arguments.
    return Outcome.MALFORMED_CALL if has_calls else Outcome.NO_ROOM
