"""How a reply ended, as one closed list with words for a person."""

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

    @property
    def words(self) -> str:
        """What happened, in one sentence."""
        return _WORDS[self][0]

    @property
    def hint(self) -> str:
        """What to change or try; empty when there is nothing to do."""
        return _WORDS[self][1]

    @property
    def setting(self) -> str:
        """The one setting of the session that would change it; empty when there is none."""
        return _SETTINGS.get(self, "")

    @property
    def is_answer(self) -> bool:
        """True when the content may stand in the history as the model's own turn."""
        return self in (Outcome.COMPLETE, Outcome.CALLS, Outcome.MAX_TOKENS)


_WORDS = {
    Outcome.COMPLETE: ("The answer is complete.", ""),
    Outcome.CALLS: ("The model asked for tools.", ""),
    Outcome.MAX_TOKENS: (
        "The answer was cut off at the output limit.",
        "Ask the model to go on, or let the session go on by itself.",
    ),
    Outcome.NO_ROOM: (
        "The model used the whole output limit for thinking and never began to answer.",
        "Lower the thinking level, or ask for a shorter answer.",
    ),
    Outcome.SAFETY: (
        "The model stopped because of a safety rule.",
        "Rephrase the request and try again.",
    ),
    Outcome.RECITATION: (
        "The model stopped because its answer came too close to a published text.",
        "Ask for a summary or for the model's own words.",
    ),
    Outcome.LANGUAGE: (
        "The model stopped because it does not speak this language.",
        "Ask for the answer in another language, or choose another model.",
    ),
    Outcome.NO_IMAGE: (
        "The model was to make an image and made none.",
        "Describe the image in other words, or choose a model that makes images.",
    ),
    Outcome.MALFORMED_CALL: (
        "The model tried to call a tool but wrote the call wrongly.",
        "Try again; if it happens often, switch the tool off or choose another model.",
    ),
    Outcome.UNEXPECTED_CALL: (
        "The model called a tool when it should not have.",
        "Check that the tools it needs are switched on, then try again.",
    ),
    Outcome.MISSING_SIGNATURE: (
        "The provider missed a thought signature in the history.",
        "Open the inspector: it shows which part came back without its signature.",
    ),
    Outcome.BLOCKED: (
        "The provider refused the request before the model saw it.",
        "Rephrase the message, or look for blocked text in the session's background and files.",
    ),
    Outcome.EMPTY: ("The model answered with nothing.", "Try again."),
    Outcome.UNFINISHED: (
        "The stream ended before the model said it was done.",
        "What arrived is kept. Try again for a whole answer.",
    ),
    Outcome.FAILED: ("The provider reported an error in the middle of the answer.", "Try again."),
    Outcome.OTHER: (
        "The model stopped for a reason it does not explain.",
        "Try again, or choose another model.",
    ),
}

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
"""Names by number: clients that ask for `enum-encoding=int` get numbers (recorded-traffic.md)."""

BLOCK_NAMES = (
    "BLOCKED_REASON_UNSPECIFIED",
    "SAFETY",
    "OTHER",
    "BLOCKLIST",
    "PROHIBITED_CONTENT",
    "IMAGE_SAFETY",
)

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
    "CONTINUATION": Outcome.UNFINISHED,
}


def name_of(value: object, names: tuple[str, ...]) -> str:
    """An enum value of the wire as its name; empty when unspecified, an unknown number in digits."""
    if isinstance(value, int) and not isinstance(value, bool):
        value = names[value] if 0 <= value < len(names) else str(value)
    return value if isinstance(value, str) and not value.endswith("_UNSPECIFIED") else ""


def outcome_of(finish_reason: str, *, has_calls: bool, has_answer: bool, came: bool) -> Outcome:
    """The outcome of a reply that was neither blocked nor failed.

    `came` is whether any part arrived at all; `has_answer` whether one of them is more than a thought.
    """
    if not finish_reason:
        return Outcome.UNFINISHED if came else Outcome.EMPTY
    if finish_reason == "MAX_TOKENS":
        return Outcome.MAX_TOKENS if has_answer and not has_calls else _cut(has_calls)
    if finish_reason != "STOP":
        return _BY_FINISH.get(finish_reason, Outcome.OTHER)
    if has_calls:
        return Outcome.CALLS
    return Outcome.COMPLETE if has_answer else Outcome.EMPTY


def _cut(has_calls: bool) -> Outcome:
    # A call that was cut off may lack arguments: running it would act on half an intention.
    return Outcome.MALFORMED_CALL if has_calls else Outcome.NO_ROOM
