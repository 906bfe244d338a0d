import asyncio
import base64
from typing import Any

import pytest
from google.genai import errors
from google.genai.client import AsyncClient

from sessions_app.emulator import Emulator
from sessions_app.emulator.api_errors import ApiError
from sessions_app.emulator.sample_content import sample_image
from sessions_app.emulator.slash_commands import (
    SLASH_COMMANDS,
    CommandUse,
    find_commands,
    parse_faults,
)
from tests.emulator.helpers import FLASH, generate, parts, send, stream, text_of, user


def say(text: str, **thinking: Any) -> dict[str, Any]:
    return {"contents": [user(text)], "generationConfig": {"thinkingConfig": thinking}}


def finish(chunks: list[dict[str, Any]]) -> str:
    found: str = chunks[-1]["candidates"][0].get("finishReason", "")
    return found


def test_markers_are_words_of_their_own() -> None:
    assert find_commands("please /error 503 once and /slow") == (
        CommandUse("error", "503", True),
        CommandUse("slow", "", False),
    )
    assert find_commands("read a/slow.md, /etc/long and /unknown") == ()


def test_every_example_is_found_under_its_own_name() -> None:
    assert [find_commands(marker.example)[0].word for marker in SLASH_COMMANDS.values()] == list(
        SLASH_COMMANDS
    )


@pytest.mark.parametrize(
    ("code", "status"),
    [(400, "INVALID_ARGUMENT"), (429, "RESOURCE_EXHAUSTED"), (500, "INTERNAL"), (503, "UNAVAILABLE")],
)
def test_an_error_has_its_code_and_status(emulator: Emulator, code: int, status: str) -> None:
    error = generate(emulator, say(f"/error {code}"))["error"]
    assert (error["code"], error["status"]) == (code, status)


def signed_history(emulator: Emulator, text: str) -> dict[str, Any]:
    answer = {"role": "model", "parts": parts(generate(emulator, say("Hello")))}
    return {"contents": [user("Hello"), answer, user(text)]}


def test_corrupted_refuses_every_signature_but_a_dummy(emulator: Emulator) -> None:
    request = signed_history(emulator, "/corrupted And now?")
    for _ in range(2):
        assert generate(emulator, request)["error"]["message"] == "Corrupted thought signature."
    for part in request["contents"][1]["parts"]:
        if "thoughtSignature" in part:
            part["thoughtSignature"] = "skip_thought_signature_validator"
    assert "error" not in generate(emulator, request)


def test_corrupted_once_is_over_after_one_request(emulator: Emulator) -> None:
    request = signed_history(emulator, "/corrupted once")
    assert ["error" in generate(emulator, request) for _ in range(2)] == [True, False]


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


def test_what_the_safety_filter_cut_is_rated(emulator: Emulator) -> None:
    """Four categories, and one of them blocked, as recorded; before the end nothing is rated."""
    *before, last = [chunk["candidates"][0] for chunk in stream(emulator, say("/safety"))]
    assert len({rating["category"] for rating in last["safetyRatings"]}) == 4
    assert [rating.get("blocked", False) for rating in last["safetyRatings"]].count(True) == 1
    assert not any("safetyRatings" in candidate for candidate in before)


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
    data = base64.b64decode(sample_image()["inlineData"]["data"])
    assert data.startswith(b"\x89PNG") and len(data) < 5_000 and sample_image() is sample_image()


HELLO = {"contents": [user("hello")]}


def statuses(emulator: Emulator, count: int = 40) -> list[int]:
    path = f"models/{FLASH}:generateContent"
    return [send(emulator, "POST", path, HELLO)[0] for _ in range(count)]


def test_a_fault_is_a_marker_with_a_chance() -> None:
    assert parse_faults("error 503; p=0.3; seed=7, /wire torn") == (
        CommandUse("error", "503", probability=0.3, seed=7),
        CommandUse("wire", "torn"),
    )


def test_later_waits_for_tool_responses() -> None:
    (use,) = find_commands("add a todo: milk /error 400 later once")
    assert use == CommandUse("error", "400", once=True, later=True)


@pytest.mark.parametrize("text", ["nonsense", "error 503; p=often", "error; chance=1"])
def test_what_is_no_fault_is_refused(text: str) -> None:
    with pytest.raises(ApiError):
        parse_faults(text)


def test_a_fault_of_the_command_line_strikes_by_chance_and_by_seed() -> None:
    runs = [
        statuses(Emulator(delay=0, faults=parse_faults(f"error 503; p=0.5; seed={s}"))) for s in (1, 1, 2)
    ]
    assert runs[0] == runs[1] != runs[2]
    assert 5 < runs[0].count(503) < 35


def test_a_certain_fault_always_strikes_and_an_impossible_one_never() -> None:
    assert set(statuses(Emulator(delay=0, faults=parse_faults("error 429")), 5)) == {429}
    assert set(statuses(Emulator(delay=0, faults=parse_faults("error 429; p=0")), 5)) == {200}


def test_a_header_asks_for_a_fault(emulator: Emulator) -> None:
    path = f"models/{FLASH}:generateContent"
    triggered = send(emulator, "POST", path, HELLO, headers={"x-emulator-fault": "error 500"})
    assert triggered[0] == 500
    assert "error" not in generate(emulator, HELLO)


def test_a_header_that_asks_for_nonsense_is_told_so(emulator: Emulator) -> None:
    path = f"models/{FLASH}:generateContent"
    status, body = send(emulator, "POST", path, HELLO, headers={"x-emulator-fault": "thunder"})
    assert status == 400 and b"Unknown fault: thunder" in body
