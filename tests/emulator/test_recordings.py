"""The emulator's answers beside recorded ones: same keys, same order, same framing."""

from datetime import date
from pathlib import Path
from typing import Any

import orjson
import pytest

from sessions_app.emulator import Emulator
from sessions_app.emulator.answer_form import FormTable
from sessions_app.emulator.framing import line, pretty
from tests.emulator.helpers import FLASH, Wire, answers, declare, generate, model, parts, send, stream, user

NEW, OLD = "gemini-3.5-flash", "gemini-2.5-flash"
WEATHER: Wire = {
    "contents": [user("weather in Boston and New Delhi")],
    "tools": declare(get_current_temperature=["location"]),
}
SHOWN: Wire = {"contents": [user("/long")], "generationConfig": {"thinkingConfig": {"includeThoughts": True}}}

REASONING = "openinference__google-genai-test-streaming-reasoning"
CALLS = "openinference__google-genai-test-streaming-reasoning-with-multiple-tool-calls"
OLD_CALLS = "mirascope__test-call-with-tools-google-gemini-2-5-flash-stream"
UNARY = "mirascope__test-strict-mode-with-thinking-google-gemini-3-pro-preview"
UNKNOWN = "pydantic-ai__test-model-name-suggestions-test-model-name-suggestion-google"
BAD_KEY = "mirascope__test-authentication-error-stream-google-gemini-2-5-flash"
CACHE = "openinference__google-genai-test-cache-create-instrumentation-test-create-cache"


@pytest.fixture
def emulator() -> Emulator:
    """As of the day of the recordings of 3.5 Flash."""
    return Emulator(delay=0, forms=FormTable(day=date(2026, 6, 4)))


@pytest.fixture
def recorded(recordings: Path) -> Any:
    def read(name: str, exchange: int = 0) -> Any:
        return orjson.loads((recordings / f"{name}.json").read_bytes())["exchanges"][exchange]

    return read


def shape(value: Any) -> Any:
    """Keys in order, without values; a list of alike things is one of them."""
    if isinstance(value, dict):
        return [
            (key, [] if key == "args" else shape(inner))
            for key, inner in value.items()
            if key != "serviceTier"
        ]
    if isinstance(value, list):
        return [shape(inner) for inner in value]
    return type(value).__name__


def summaries(chunks: list[Any]) -> list[str]:
    return [part["text"] for chunk in chunks for part in parts(chunk) if part.get("thought")]


def blank_end(text: str) -> str:
    return text[len(text.rstrip()) :]


def distinct(chunks: list[Any]) -> list[Any]:
    """Shapes of chunks, each run of equal ones once."""
    shapes = [shape(chunk) for chunk in chunks]
    return [one for at, one in enumerate(shapes) if not at or shapes[at - 1] != one]


def test_a_streamed_text_with_thoughts_looks_the_same(emulator: Emulator, recorded: Any) -> None:
    mine = distinct(stream(emulator, SHOWN, NEW))
    assert mine == distinct(recorded(REASONING)["response_chunks"])


def test_streamed_parallel_calls_look_the_same(emulator: Emulator, recorded: Any) -> None:
    assert distinct(stream(emulator, WEATHER, NEW)) == distinct(recorded(CALLS)["response_chunks"])


def test_streamed_calls_of_2_5_look_the_same(emulator: Emulator, recorded: Any) -> None:
    assert distinct(stream(emulator, WEATHER, OLD)) == distinct(recorded(OLD_CALLS)["response_chunks"])


def test_the_text_after_the_calls_of_2_5_looks_the_same(emulator: Emulator, recorded: Any) -> None:
    asked = model(*parts(generate(emulator, WEATHER, OLD)))
    done = answers(*[("get_current_temperature", {"temp": "15C, after a long and windy morning"})] * 2)
    body = WEATHER | {
        "contents": [*WEATHER["contents"], asked, done],
        "generationConfig": {"thinkingConfig": {"thinkingBudget": 0}},
    }
    assert distinct(stream(emulator, body, OLD)) == distinct(recorded(OLD_CALLS, 1)["response_chunks"])


def test_a_unary_text_with_thoughts_looks_the_same(emulator: Emulator, recorded: Any) -> None:
    assert shape(generate(emulator, SHOWN, NEW)) == shape(recorded(UNARY)["response_chunks"][0])


def test_summaries_of_thoughts_end_like_recorded_ones(emulator: Emulator, recorded: Any) -> None:
    thinking: Wire = SHOWN | {"contents": [user("/think")]}
    streamed = summaries(stream(emulator, thinking, NEW))
    theirs = summaries(recorded(REASONING)["response_chunks"])
    assert len(streamed) > 1 and len(theirs) > 1
    assert {blank_end(text) for text in streamed} == {blank_end(text) for text in theirs}


def test_an_answer_in_one_piece_has_its_thoughts_in_one_part(emulator: Emulator, recorded: Any) -> None:
    thinking: Wire = SHOWN | {"contents": [user("/think")]}
    (mine,) = summaries([generate(emulator, thinking, NEW)])
    (theirs,) = summaries(recorded(UNARY)["response_chunks"])
    assert mine == "".join(summaries(stream(emulator, thinking, NEW)))
    assert blank_end(mine) == blank_end(theirs)


def test_the_framing_is_byte_for_byte_the_recorded_one(recorded: Any) -> None:
    for name in (REASONING, CALLS, OLD_CALLS):
        exchange = recorded(name)
        mine = b"".join(b"data: " + line(chunk) + b"\r\n\r\n" for chunk in exchange["response_chunks"])
        assert mine == exchange["raw_sse"].encode()
    exchange = recorded(UNARY)
    assert pretty(exchange["response_chunks"][0]) == exchange["raw_body"].encode()


def test_an_unknown_model_is_refused_in_the_same_words(emulator: Emulator, recorded: Any) -> None:
    mine = generate(emulator, {"contents": [user("a")]}, "gemini-3.6-flahs")
    assert mine == recorded(UNKNOWN)["response_chunks"][0]


def test_a_bad_key_is_refused_in_the_same_bytes(emulator: Emulator, recorded: Any) -> None:
    path = f"models/{FLASH}:streamGenerateContent"
    body = send(emulator, "POST", path, {"contents": [user("a")]}, key="invalid", alt="sse")[1]
    exchange = recorded(BAD_KEY)
    assert body == (exchange.get("raw_sse") or exchange["raw_body"]).encode()


def test_a_new_cache_looks_the_same(emulator: Emulator, recorded: Any) -> None:
    body = {"model": f"models/{FLASH}", "contents": [user("word " * 1_000)], "ttl": "300s"}
    mine = orjson.loads(send(emulator, "POST", "cachedContents", body)[1])
    theirs = recorded(CACHE)["response_chunks"][0]
    assert shape(mine) == shape(theirs)
    assert [len(str(mine[key])) for key in ("name", "createTime", "expireTime")] == [
        len(theirs[key]) for key in ("name", "createTime", "expireTime")
    ]
