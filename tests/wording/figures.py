"""Sentences of HAR files, signatures and candidates, and figures for the names in any template."""

from collections.abc import Iterator
from itertools import product
from string import Formatter
from typing import Any

from sessions_app.wording import har, outcomes, signature_traces


def figures_of(*templates: str) -> dict[str, Any]:
    """A figure for each name that the templates have."""
    return {field: 1 for text in templates for _, field, _, _ in Formatter().parse(text) if field}


def har_sentences() -> Iterator[str]:
    for code, text in har.PROBLEMS.items():
        yield har.problem(code, {**figures_of(text), "at": "2026-11-23T09:00:00+00:00"})
    ignored = dict.fromkeys(har.IGNORED, 2)
    yield from (*har.summary(1, 1, 0, {}), *har.summary(2, 0, 1, ignored), *har.summary(2, 2, 0, ignored))


def signature_sentences() -> Iterator[str]:
    yield from signature_traces.SAME.values()
    for is_due, is_checked in ((True, True), (False, True), (False, False)):
        yield signature_traces.dropped(2, "e/m", is_due=is_due, is_checked=is_checked)
    for is_first, (is_due, is_checked) in product(
        (True, False), ((True, True), (False, True), (False, False))
    ):
        yield signature_traces.moved(2, "e/m", is_first=is_first, is_due=is_due, is_checked=is_checked)
    yield from (signature_traces.copied(2), signature_traces.regrouped(2), signature_traces.left_out(2))
    yield from (*signature_traces.NOT_KEPT.values(), *map(signature_traces.sent_back, (1, 2)))
    yield from (signature_traces.untraced(), signature_traces.from_elsewhere(signature_traces.SAME["bytes"]))
    for one in (True, False):
        yield signature_traces.stand_in(2, is_captured=one)
        yield signature_traces.put_in("", is_captured=one)
        yield signature_traces.altered(2, had_any=one)
        yield signature_traces.altered(2, had_any=one, came_in=1)


def candidate_sentences() -> Iterator[str]:
    yield from (outcomes.candidates_came({0: "STOP", 1: ""}), outcomes.candidates_asked(2))
