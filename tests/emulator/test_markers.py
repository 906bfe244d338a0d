import asyncio
import base64
from typing import Any

import pytest
from google.genai import errors
from google.genai.client import AsyncClient

from sessions_app.emulator import Emulator
from sessions_app.emulator.drawings import drawing
from sessions_app.emulator.markers import MARKERS, Mark, find_marks
from tests.emulator.wire import FLASH, generate, parts, stream, text_of, user


def say(text: str, **thinking: Any) -> dict[str, Any]:
    return {"contents": [user(text)], "generationConfig": {"thinkingConfig": thinking}}


def finish(chunks: list[dict[str, Any]]) -> str:
    found: str = chunks[-1]["candidates"][0].get("finishReason", "")
    return found


def test_markers_are_words_of_their_own() -> None:
    assert find_marks("please /error 503 once and /slow") == (
        Mark("error", "503", True),
        Mark("slow", "", False),
    )
    assert find_marks("read a/slow.md, /etc/long and /unknown") == ()


def test_every_example_is_found_under_its_own_name() -> None:
    assert [find_marks(marker.example)[0].word for marker in MARKERS.values()] == list(MARKERS)


@pytest.mark.parametrize(
    ("code", "status"),
    [(400, "INVALID_ARGUMENT"), (429, "RESOURCE_EXHAUSTED"), (500, "INTERNAL"), (503, "UNAVAILABLE")],
)
def test_an_error_has_its_code_and_status(emulator: Emulator, code: int, status: str) -> None:
    error = generate(emulator, say(f"/error {code}"))["error"]
    assert (error["code"], error["status"]) == (code, status)


def test_a_429_says_when_to_come_back(emulator: Emulator) -> None:
    details = generate(emulator, say("/error 429"))["error"]["details"]
    assert details[-1] == {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "2s"}


def test_shared_capacity_gives_neither_quota_nor_delay(emulator: Emulator) -> None:
    error = generate(emulator, say("/exhausted"))["error"]
    assert error["message"].startswith("Resource has been exhausted") and "details" not in error


async def test_an_error_reaches_the_sdk_at_the_first_iteration(sdk: AsyncClient) -> None:
    chunks = await sdk.models.generate_content_stream(model=FLASH, contents="/error 503")
    with pytest.raises(errors.ServerError) as refused:
        await anext(chunks)
    assert refused.value.code == 503


def test_an_error_once_lets_the_retry_pass(emulator: Emulator) -> None:
    assert "error" in generate(emulator, say("/error 503 once"))
    assert "error" not in generate(emulator, say("/error 503 once"))
    assert "error" in generate(emulator, say("/error 503 once, please"))


def test_thoughts_are_longer_on_request(emulator: Emulator) -> None:
    chunks = stream(emulator, say("/think", includeThoughts=True))
    thoughts = [part["text"] for chunk in chunks for part in parts(chunk) if part.get("thought")]
    assert len(thoughts) == 3 and all(text.startswith("**") for text in thoughts)


def test_thoughts_that_nobody_asked_to_see_are_mentioned(emulator: Emulator) -> None:
    assert "does not ask to see thoughts" in text_of(stream(emulator, say("/think")))


def test_an_empty_stream_has_no_content(emulator: Emulator) -> None:
    (chunk,) = stream(emulator, say("/empty"))
    assert chunk["candidates"] == [{"finishReason": "STOP", "index": 0}]


def test_a_stream_can_end_without_a_finish(emulator: Emulator) -> None:
    chunks = stream(emulator, say("/nofinish"))
    assert text_of(chunks) and finish(chunks) == ""


def test_a_blocked_prompt_has_no_candidates(emulator: Emulator) -> None:
    (chunk,) = stream(emulator, say("/blocked"))
    assert "candidates" not in chunk and chunk["promptFeedback"] == {"blockReason": "PROHIBITED_CONTENT"}
    assert generate(emulator, say("/blocked"))["promptFeedback"] == chunk["promptFeedback"]


def test_the_token_limit_cuts_and_still_signs(emulator: Emulator) -> None:
    chunks = stream(emulator, say("/maxtokens"))
    assert text_of(chunks) and finish(chunks) == "MAX_TOKENS"
    assert "thoughtSignature" in parts(chunks[-1])[0]


def test_the_safety_filter_cuts_and_leaves_no_parts(emulator: Emulator) -> None:
    chunks = stream(emulator, say("/safety"))
    assert text_of(chunks) and finish(chunks) == "SAFETY"
    assert chunks[-1]["candidates"][0]["content"] == {"role": "model"}


def test_a_malformed_call_has_a_message_and_no_content(emulator: Emulator) -> None:
    (chunk,) = stream(emulator, say("/malformed"))
    assert finish([chunk]) == "MALFORMED_FUNCTION_CALL" and "content" not in chunk["candidates"][0]
    assert chunk["candidates"][0]["finishMessage"].startswith("Malformed function call: ")


def test_a_long_answer_has_everything_markdown_has(emulator: Emulator) -> None:
    text = text_of(stream(emulator, say("/long")))
    assert len(text) > 1_500
    assert all(mark in text for mark in ("# ", "1. ", "- ", "|---|", "```python", "> ", "👩‍🚀"))


async def test_a_slow_stream_is_about_a_hundred_paced_chunks() -> None:
    emulator = Emulator(delay=0, slow_delay=0.001)
    loop = asyncio.get_running_loop()
    started = loop.time()
    chunks = await asyncio.to_thread(stream, emulator, say("/slow"))
    assert 90 <= len(chunks) <= 110 and loop.time() - started >= 0.09


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("/image please", ["inlineData"]),
        ("/code please", ["executableCode", "codeExecutionResult"]),
    ],
)
async def test_parts_stand_beside_the_text(sdk: AsyncClient, text: str, keys: list[str]) -> None:
    reply = await sdk.models.generate_content(model=FLASH, contents=text)
    content = reply.candidates[0].content if reply.candidates else None
    shown = [part.model_dump(exclude_none=True, by_alias=True) for part in (content and content.parts) or []]
    assert [key for part in shown for key in part if key in keys] == keys and reply.text


def test_the_drawing_is_a_picture_and_always_the_same() -> None:
    data = base64.b64decode(drawing()["inlineData"]["data"])
    assert data.startswith(b"\x89PNG") and len(data) < 5_000 and drawing() is drawing()
