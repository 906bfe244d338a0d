"""Sentences of HAR files, and figures for the names in any template."""

from collections.abc import Iterator
from string import Formatter
from typing import Any

from sessions_app.wording import har


def figures_of(*templates: str) -> dict[str, Any]:
    """A figure for each name that the templates have."""
    return {field: 1 for text in templates for _, field, _, _ in Formatter().parse(text) if field}


def har_sentences() -> Iterator[str]:
    for code, text in har.PROBLEMS.items():
        yield har.problem(code, {**figures_of(text), "at": "2026-11-23T09:00:00+00:00"})
    ignored = dict.fromkeys(har.IGNORED, 2)
    yield from (*har.summary(1, 1, 0, {}), *har.summary(2, 0, 1, ignored), *har.summary(2, 2, 0, ignored))
