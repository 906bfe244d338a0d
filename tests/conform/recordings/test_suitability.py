from typing import Any

import pytest

from sessions_app.conform.recordings.recorded import RecordedExchange
from sessions_app.conform.recordings.rule_verdicts import compare_all
from sessions_app.conform.recordings.suitability import reason_to_skip
from tests.conform.recordings.makers import exchange, recording, text
from tests.emulator.helpers import Wire, user

FLASH = "gemini-2.5-flash"


def cache_creation(words: int, counted: int, *tags: str) -> RecordedExchange:
    made = {"name": "cachedContents/a", "usageMetadata": {"totalTokenCount": counted}}
    return exchange(
        made,
        request={"model": f"models/{FLASH}", "contents": [user("word " * words)]},
        endpoint="cachedContents.post",
        model_requested="",
        tags=["fidelity:wire", *tags],
    )


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"tags": ["fidelity:vendor-mock"]}, "a mock"),
        ({"tags": ["fidelity:sdk-dump"]}, "dumped by an SDK"),
        ({"tags": ["fidelity:wire", "vertex"]}, "Vertex"),
        ({"endpoint": "embedContent"}, "an endpoint that is not played: embedContent"),
        ({"model_requested": "gemini-0.5"}, "gemini-0.5 is not served"),
        ({"request": {"contents": [], "tools": [{"googleSearch": {}}]}}, "the provider's own tools"),
        ({"request": {"contents": [], "tools": {"url_context": {}}}}, "the provider's own tools"),
        ({"status": 429}, "a quota error"),
        ({"status": 503}, "a failure of the provider"),
    ],
)
def test_what_cannot_be_judged_has_its_reason(fields: dict[str, Any], reason: str) -> None:
    chunks = text(FLASH).response_chunks
    assert reason in reason_to_skip(exchange(*chunks, **fields))


def test_what_can_be_judged_has_none() -> None:
    assert not reason_to_skip(text(FLASH))


def test_the_name_of_a_tool_in_a_message_declares_none() -> None:
    asked = {"contents": [user("What is codeExecution?")]}
    assert not reason_to_skip(exchange(*text(FLASH).response_chunks, request=asked))


@pytest.mark.parametrize(
    ("creation", "is_judged"),
    [
        (cache_creation(2_000, 2_000), True),
        (cache_creation(20, 2_000), False),
        (cache_creation(2_000, 2_000, "trimmed"), False),
    ],
)
def test_a_cache_creation_that_was_trimmed_is_left_out(creation: RecordedExchange, is_judged: bool) -> None:
    assert bool(reason_to_skip(creation)) != is_judged


def test_what_needs_a_trimmed_cache_is_left_out_with_it() -> None:
    body: Wire = {"contents": [user("hello")], "cachedContent": "cachedContents/a"}
    hit = exchange(*text(FLASH).response_chunks, request=body)
    found = compare_all([recording("a", cache_creation(20, 2_000), hit, "damaged")])
    assert not found.played and sum(found.left_out.values()) == 3
    assert "its cache is not in the recording" in found.left_out
