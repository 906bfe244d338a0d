from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.prompt.chunks import ChunkReader, StreamedChunk, Usage, is_failure, is_standard_text
from tests.prompt.test_parts import JSON


def read(event: Any, dialect: str = "gemini") -> StreamedChunk:
    chunk = ChunkReader(dialect).read(orjson.dumps(event))
    assert chunk is not None
    return chunk


def test_what_stands_around_the_parts_is_read_by_name() -> None:
    candidate = {"content": {"role": "model", "parts": [{"text": "a"}, {}, 3]}, "finishReason": 2}
    chunk = read(
        {
            "candidates": [{"index": 1, "finishReason": "STOP"}, candidate | {"finishMessage": "Long."}],
            "usageMetadata": {"totalTokenCount": 3},
            "modelVersion": "m",
            "responseId": "r",
            "promptFeedback": {"blockReason": "SAFETY"},
        }
    )
    assert (chunk.parts, chunk.usage) == ([{"text": "a"}], {"totalTokenCount": 3})
    assert chunk.names == {
        "model_version": "m",
        "response_id": "r",
        "finish_reason": "MAX_TOKENS",
        "finish_message": "Long.",
        "block_reason": "SAFETY",
    }


def test_what_is_not_said_has_no_name() -> None:
    chunk = read({"candidates": [{"finishReason": "FINISH_REASON_UNSPECIFIED"}]})
    assert (chunk.names, chunk.is_last) == ({}, False)


@pytest.mark.parametrize(
    "event", [{"error": {"code": 429}}, {"error": "no"}, {"candidates": [{"finishReason": "STOP"}]}]
)
def test_an_error_or_a_reason_is_the_last_event(event: dict[str, Any]) -> None:
    assert read(event).is_last


def test_an_error_that_is_only_words_becomes_an_object() -> None:
    assert read({"error": "no"}).error == {"message": "no"}


def test_the_first_event_of_a_list_counts_and_other_json_is_none() -> None:
    assert read([1, {"responseId": "r"}]).names == {"response_id": "r"}
    assert ChunkReader().read(b"3") is None


def test_only_the_dialect_that_was_named_is_translated() -> None:
    event = {"object": "chat.completion.chunk", "id": "r", "choices": [{"delta": {"content": "Hi"}}]}
    assert read(event, "openai").parts == [{"text": "Hi"}]
    assert read(event).parts == [] and read(event).raw == event


@pytest.mark.parametrize(
    ("event", "failed"),
    [({"error": {}}, True), ({"candidates": [], "error": {}}, False), ({}, False), ([], False)],
)
def test_an_event_of_nothing_but_an_error_is_a_failure(event: Any, failed: bool) -> None:
    assert is_failure(event) is failed


@given(
    st.dictionaries(st.sampled_from(["candidates", "usageMetadata", "promptFeedback", "modelVersion"]), JSON)
)
def test_odd_events_are_read_without_an_exception(event: dict[str, Any]) -> None:
    chunk = read(event)
    assert all(isinstance(value, str) for value in chunk.names.values())
    assert all(chunk.parts)
    assert dict(chunk.usage) == chunk.usage


def test_counts_that_are_no_integers_are_zero() -> None:
    raw = {"promptTokenCount": 12, "candidatesTokenCount": "3"}
    assert Usage.of(raw) == Usage(prompt=12, raw=raw)


def _read(modality: str | int | None, count: int = 900) -> dict[str, Any]:
    return {"promptTokensDetails": [{"modality": "TEXT", "tokenCount": 100}, _counted(modality, count)]}


def _counted(modality: str | int | None, count: int) -> dict[str, Any]:
    return {"modality": modality, "tokenCount": count}


@pytest.mark.parametrize(
    ("usage", "is_standard"),
    [
        ({}, True),
        ({"serviceTier": "standard", "trafficType": "ON_DEMAND"}, True),
        ({"trafficType": 1}, True),
        ({"serviceTier": "flex"}, False),
        ({"serviceTier": "priority"}, False),
        ({"trafficType": "ON_DEMAND_FLEX"}, False),
        ({"trafficType": "PROVISIONED_THROUGHPUT"}, False),
        (_read("TEXT"), True),
        (_read(1), True),
        (_read(0), True),
        (_read(""), True),
        (_read(None), True),
        ({"promptTokensDetails": [{"tokenCount": 9}]}, True),
        (_read(2), False),
        (_read("AUDIO", 0), True),
        (_read("AUDIO"), False),
        ({"candidatesTokensDetails": [_counted("IMAGE", 1_290)]}, False),
    ],
)
def test_another_tier_or_another_modality_is_not_the_standard_text(
    usage: dict[str, Any], is_standard: bool
) -> None:
    assert is_standard_text(usage) is is_standard
