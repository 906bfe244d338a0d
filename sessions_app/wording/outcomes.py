"""How a reply ended: what happened, and what to change or try."""

from collections.abc import Mapping
from typing import Any

from sessions_app.prompt.outcomes import Outcome
from sessions_app.wording.sentences import fill

SENTENCES: dict[str, str] = {
    Outcome.COMPLETE: "The answer is complete.",
    Outcome.CALLS: "The model asked for tools.",
    Outcome.MAX_TOKENS: "The answer was cut off at the output limit.",
    Outcome.NO_ROOM: "The model used the whole output limit for thinking and never began to answer.",
    Outcome.SAFETY: "The model stopped because of a safety rule.",
    Outcome.RECITATION: "The model stopped because its answer came too close to a published text.",
    Outcome.LANGUAGE: "The model stopped because it does not speak this language.",
    Outcome.NO_IMAGE: "The model was to make an image and made none.",
    Outcome.MALFORMED_CALL: "The model tried to call a tool but wrote the call wrongly.",
    Outcome.UNEXPECTED_CALL: "The model called a tool when it should not have.",
    Outcome.MISSING_SIGNATURE: "The provider refused the history: a thought in it is incomplete.",
    Outcome.BLOCKED: "The provider refused the request before the model saw it.",
    Outcome.EMPTY: "The model answered with nothing.",
    Outcome.UNFINISHED: "The stream ended before the model said it was done.",
    Outcome.FAILED: "The provider reported an error in the middle of the answer.",
    Outcome.OTHER: "The model stopped for a reason it does not explain.",
    Outcome.CONTINUES: "The provider paused the answer at its limit for one request; the next goes on.",
    Outcome.UNKNOWN_REASON: "The provider sent no answer, and a reason that Pipeweb does not know.",
}
"""What happened."""

BROKEN_OFF: dict[str, str] = {
    "stopped": "It was stopped before the model said it was done.",
    "interrupted": "The server stopped before the model said it was done.",
}
"""Why an answer is unfinished whose stream was left before its end, by the status of the run."""

HINTS: dict[str, str] = {
    Outcome.COMPLETE: "",
    Outcome.CALLS: "",
    Outcome.MAX_TOKENS: "Ask the model to go on, or let the chat go on by itself.",
    Outcome.NO_ROOM: "Lower the thinking level, or ask for a shorter answer.",
    Outcome.SAFETY: "Rephrase the request and try again.",
    Outcome.RECITATION: "Ask for a summary or for the model's own words.",
    Outcome.LANGUAGE: "Ask for the answer in another language, or choose another model.",
    Outcome.NO_IMAGE: "Describe the image in other words, or choose a model that makes images.",
    Outcome.MALFORMED_CALL: "Try again; if it happens often, switch the tool off or choose another model.",
    Outcome.UNEXPECTED_CALL: "Check that the tools it needs are switched on, then try again.",
    Outcome.MISSING_SIGNATURE: "Open the inspector: it shows which part of the history was incomplete.",
    Outcome.BLOCKED: "Rephrase the message, or look for blocked text in the chat's instructions and files.",
    Outcome.EMPTY: "Try again.",
    Outcome.UNFINISHED: "Try again for a whole answer.",
    Outcome.FAILED: "Try again.",
    Outcome.OTHER: "Try again, or choose another model.",
    Outcome.CONTINUES: "The rest of the answer is in the request that follows.",
    Outcome.UNKNOWN_REASON: "Try again, or choose another model.",
}
"""What to do about it; empty where there is nothing to do."""

PROGRAM_HINTS: dict[str, str] = {
    Outcome.MISSING_SIGNATURE: "The Signatures tab of the request shows which of them were sent back.",
}
"""The same for the answer to a captured program, where Pipeweb knows something to do."""

NAMED: dict[str, str] = {
    Outcome.OTHER: "The model stopped for a reason it does not explain ({finish_reason}).",
    Outcome.UNKNOWN_REASON: (
        "The provider sent no answer, and a reason that Pipeweb does not know: {finish_reason}."
    ),
}
"""With the provider's word, where the row has it."""

NEWS = {
    "title": "The provider gave a reason for the end that Pipeweb does not know: {finish_reason}.",
    "hint": "The answer stands as it came.",
    "called": "The answer stands as it came, and its calls were run.",
    "program_hint": "The answer was passed on as it came.",
}
"""Beside an answer that stands."""

CANDIDATES = {
    "came": "{count} candidates came. The first is shown; the Wire tab has all, and all are counted. "
    "Finish reasons: {reasons}.",
    "asked": "{count} candidates were asked for. Of those that came the first is shown, and all are counted.",
    "finish": "{number} {reason}",
    "no_finish": "{number} without one",
}
"""For a request that was answered with several candidates."""


def sentence(outcome: str, figures: Mapping[str, Any] | None = None) -> str:
    """What happened; empty for an outcome that another version wrote. `figures` are those of NoAnswer."""
    plain = SENTENCES.get(outcome, "")
    return fill(NAMED[outcome], figures, otherwise=plain) if figures and outcome in NAMED else plain


def sentence_in(status: str, outcome: str) -> str:
    """What happened to the last answer of a run with this status."""
    left = BROKEN_OFF.get(status) if outcome == Outcome.UNFINISHED else None
    return left or sentence(outcome)


def news_texts(finish_reason: str, *, is_captured: bool = False, has_called: bool = False) -> tuple[str, str]:
    """Title and hint for a reason that is not known. `has_called`: tools of ours were run for the answer."""
    hint = NEWS["program_hint" if is_captured else "called" if has_called else "hint"]
    return NEWS["title"].format(finish_reason=finish_reason), hint


def candidates_came(finishes: Mapping[int, str]) -> str:
    """By index the finish reason of each; empty for one candidate."""
    reasons = (
        CANDIDATES["finish" if reason else "no_finish"].format(number=index + 1, reason=reason)
        for index, reason in sorted(finishes.items())
    )
    if len(finishes) < 2:
        return ""
    return CANDIDATES["came"].format(count=len(finishes), reasons=", ".join(reasons))


def candidates_asked(count: int) -> str:
    return CANDIDATES["asked"].format(count=count) if count > 1 else ""


def hint(outcome: str, *, is_captured: bool = False) -> str:
    return (PROGRAM_HINTS if is_captured else HINTS).get(outcome, "")
