"""Why a text or a JSON value cannot be kept: a sentence for each ValueProblem."""

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from sessions_app.values import ValueProblem
from sessions_app.wording.sentences import fill

SENTENCES: dict[str, str] = {
    ValueProblem.NUL: "This holds a NUL character (U+0000), which cannot be kept. Remove it.",
    ValueProblem.LONE_SURROGATE: "This holds half a character (a lone surrogate). Remove it.",
    ValueProblem.NOT_FINITE: "NaN, Infinity and numbers beyond 1e308 are no JSON. Write them in quotes.",
    ValueProblem.LARGE_INTEGER: "A whole number has more than 64 bits. Write it in quotes.",
    ValueProblem.MOMENT: "A time lies before 1970 or after 2199.",
    ValueProblem.TOO_DEEP: "At most {limit} lists and objects may stand inside each other.",
    ValueProblem.TOO_MANY_CONTAINERS: "A value may hold at most {limit:,} lists and objects.",
    ValueProblem.REPEATED_NAME: "The name “{name}” stands twice in one object. Remove one of them.",
    ValueProblem.NOT_JSON: "Line {line}, column {column}: {problem}.",
}

OF_VALIDATOR = "Value error, "
"""What pydantic puts before the words of a ValueError."""


def sentence(code: str, figures: Mapping[str, Any]) -> str:
    """The sentence for a ValueProblem; empty for any other code."""
    return fill(SENTENCES.get(code, ""), figures, otherwise=code)


def problem_of(error: ValidationError) -> str:
    """The first problem of a pydantic error: our sentence, or one of pydantic's own words."""
    words = said(error.errors(include_url=False, include_input=False)[0]).removeprefix(OF_VALIDATOR)
    return words if words.endswith(".") else f"{words}."


def said(problem: ErrorDetails) -> str:
    """One problem of a pydantic error: our sentence, or pydantic's own words."""
    return sentence(problem["type"], problem.get("ctx", {})) or problem["msg"]
