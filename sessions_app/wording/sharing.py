"""What is said of shared links, and on the pages that they open."""

from collections.abc import Mapping
from typing import Any

from sessions_app.error_codes import ShareProblem
from sessions_app.wording.sentences import fill

PROBLEMS: dict[str, str] = {
    ShareProblem.EMPTY: "There is nothing to share yet: no message has an answer.",
    ShareProblem.TEMPORARY: "A temporary chat is not shared: it is erased with all that belongs to it.",
    ShareProblem.CHANGED: "What would be shared has changed meanwhile. Look at the preview again.",
    ShareProblem.SWITCHED_OFF: "An administrator has switched sharing off: links that were made are closed.",
    ShareProblem.TOO_LARGE: "This is too long to share: {size:,} bytes of text, of at most {limit:,}.",
}

CALL_STATES: dict[str, str] = {
    "done": "done",
    "failed": "failed",
    "none": "no answer",
    "unknown": "unknown whether it ran",
    "not_run": "not run",
}
"""What became of a tool's call."""


def problem(reason: ShareProblem, figures: Mapping[str, Any]) -> str:
    return fill(PROBLEMS[reason], figures)
