"""What is said of shared links, and on the pages that they open."""

from collections.abc import Mapping
from typing import Any

from sessions_app.error_codes import SharedFailure, ShareProblem
from sessions_app.wording.sentences import fill

PROBLEMS: dict[str, str] = {
    ShareProblem.EMPTY: "There is nothing to share yet: no message has an answer.",
    ShareProblem.TEMPORARY: "A temporary chat is not shared: it is erased with all that belongs to it.",
    ShareProblem.CHANGED: "What would be shared has changed meanwhile. Look at the preview again.",
    ShareProblem.SWITCHED_OFF: "An administrator has switched sharing off: links that were made are closed.",
    ShareProblem.TOO_LARGE: "This is too long to share: {size:,} bytes of text, of at most {limit:,}.",
}

FAILURES: dict[str, str] = {
    SharedFailure.BROKEN: "Something went wrong in Pipeweb.",
    SharedFailure.PROVIDER_DOWN: "The provider was overloaded or had a fault.",
    SharedFailure.QUOTA: "The provider took no more requests for a while.",
    SharedFailure.REFUSED: "The provider refused the request.",
    SharedFailure.NOT_REACHED: "The connection to the provider failed.",
    SharedFailure.UNREADABLE: "What the provider answered could not be read.",
    SharedFailure.IN_ANSWER: "The provider reported an error in the middle of the answer.",
    SharedFailure.NOT_SENT: "The request could not be sent.",
    SharedFailure.LIMIT: "A limit for answers was reached.",
}
"""How a run failed, for everybody who has the link."""

REVOKED = "The link is closed."

CALL_STATES: dict[str, str] = {
    "done": "done",
    "failed": "failed",
    "none": "no answer",
    "unknown": "unknown whether it ran",
    "not_run": "not run",
}
"""What became of a tool's call."""


def failure(code: SharedFailure) -> str:
    return FAILURES[code]


def problem(reason: ShareProblem, figures: Mapping[str, Any]) -> str:
    return fill(PROBLEMS[reason], figures)
