"""gemini-wire §1, §2, §4 and recorded-traffic "Streams", "Usage": one test a rule about the wire."""

from itertools import pairwise

import orjson
import pytest

from sessions_app.emulator import Emulator
from sessions_app.emulator.signer import DUMMY_WORDS
from tests.emulator.helpers import (
    FLASH,
    Wire,
    answers,
    call,
    declare,
    events,
    generate,
    model,
    parts,
    send,
    stream,
    user,
)

NEW, OLD = "gemini-3.5-flash", "gemini-2.5-flash"
HELLO: Wire = {"contents": [user("hello")]}
LONG: Wire = {"contents": [user("/long")]}
WEATHER: Wire = {
    "contents": [user("weather in Paris and London")],
    "tools": declare(get_current_temperature=["location"]),
}
STREAM = f"models/{NEW}:streamGenerateContent"


def raw(emulator: Emulator, body: Wire = LONG) -> bytes:
    return send(emulator, "POST", STREAM, body, alt="sse")[1]


def usages(chunks: list[Wire]) -> list[Wire]:
    return [chunk["usageMetadata"] for chunk in chunks]


def test_every_event_is_one_data_line_and_a_blank_one(emulator: Emulator) -> None:
    body = raw(emulator)
    frames = body.split(b"\r\n\r\n")
    assert frames.pop() == b"" and body.count(b"\n") == body.count(b"\r\n") == 2 * len(frames)
    assert all(frame.startswith(b'data: {"candidates": [{') for frame in frames)


def test_a_stream_has_no_done(emulator: Emulator) -> None:
    assert b"[DONE]" not in raw(emulator)


def test_without_sse_a_stream_is_a_json_array(emulator: Emulator) -> None:
    assert (
        orjson.loads(send(emulator, "POST", STREAM, LONG)[1])[-1]["candidates"][0]["finishReason"] == "STOP"
    )


def test_only_angle_brackets_are_escaped(emulator: Emulator) -> None:
    body = raw(emulator, {"contents": [user("<é 👩‍🚀>")]})
    assert "é".encode() in body and b"\\u003c" in body and b"<" not in body


def test_long_text_comes_in_chunks_of_about_a_hundred_after_a_short_one(emulator: Emulator) -> None:
    sizes = [len(parts(chunk)[0]["text"]) for chunk in stream(emulator, LONG, NEW)]
    assert sizes[0] <= 7 and sizes[-1] == 0 and all(85 <= size <= 115 for size in sizes[1:-2])


def test_one_part_a_chunk(emulator: Emulator) -> None:
    assert {len(parts(chunk)) for chunk in stream(emulator, LONG | WEATHER, NEW)} == {1}


def test_keys_stand_in_the_recorded_order(emulator: Emulator) -> None:
    chunk = stream(emulator, HELLO, NEW)[-1]
    assert list(chunk) == ["candidates", "usageMetadata", "modelVersion", "responseId", "turnToken"]
    assert list(chunk["candidates"][0]) == ["content", "finishReason", "index"]


def test_every_chunk_has_usage_that_grows(emulator: Emulator) -> None:
    counts = [usage["candidatesTokenCount"] for usage in usages(stream(emulator, LONG, NEW))]
    assert all(left <= right for left, right in pairwise(counts)) and counts[0] < counts[-1]


def test_total_is_prompt_and_candidates_and_thoughts(emulator: Emulator) -> None:
    for usage in usages(stream(emulator, LONG, NEW)):
        spent = usage["promptTokenCount"] + usage["candidatesTokenCount"] + usage["thoughtsTokenCount"]
        assert usage["totalTokenCount"] == spent


def test_one_response_id_a_stream(emulator: Emulator) -> None:
    (found,) = {chunk["responseId"] for chunk in stream(emulator, LONG, NEW)}
    assert 20 <= len(found) <= 23 and not set("+/=") & set(found)


@pytest.mark.parametrize("body", [HELLO, LONG, WEATHER])
def test_the_finish_reason_is_in_the_last_chunk_only(emulator: Emulator, body: Wire) -> None:
    finishes = [chunk["candidates"][0].get("finishReason") for chunk in stream(emulator, body, NEW)]
    assert finishes == [None] * (len(finishes) - 1) + ["STOP"]


def test_calls_finish_with_stop_and_a_message(emulator: Emulator) -> None:
    candidate = generate(emulator, WEATHER, NEW)["candidates"][0]
    assert candidate["finishReason"] == "STOP"
    assert candidate["finishMessage"] == "Model generated function call(s)."


def test_an_empty_text_trails_the_calls_of_gemini_3(emulator: Emulator) -> None:
    assert parts(stream(emulator, WEATHER, NEW)[-1]) == [{"text": ""}]


def test_2_5_sends_all_calls_in_the_last_chunk(emulator: Emulator) -> None:
    (chunk,) = stream(emulator, WEATHER, OLD)
    assert len(parts(chunk)) == 2


def test_a_call_has_an_id_of_eight_letters_since_gemini_3(emulator: Emulator) -> None:
    (found,) = {len(part["functionCall"]["id"]) for part in parts(generate(emulator, WEATHER, NEW))}
    assert found == 8 and "id" not in parts(generate(emulator, WEATHER, OLD))[0]["functionCall"]


def test_the_prompt_jumps_by_the_restored_thoughts(emulator: Emulator) -> None:
    asked = generate(emulator, WEATHER, NEW)
    done = answers(*[("get_current_temperature", {"temp": "15C"})] * 2)
    chunks = stream(emulator, WEATHER | {"contents": [*WEATHER["contents"], model(*parts(asked)), done]}, NEW)
    prompts = [usage["promptTokenCount"] for usage in usages(chunks)]
    assert len(set(prompts[:-1])) == 1
    assert prompts[-1] - prompts[0] == asked["usageMetadata"]["thoughtsTokenCount"]


def test_what_was_not_produced_is_not_counted(emulator: Emulator) -> None:
    usage = generate(emulator, {"contents": [user("/empty")]}, NEW)["usageMetadata"]
    assert not {"candidatesTokenCount", "thoughtsTokenCount", "cachedContentTokenCount"} & usage.keys()


def test_a_blocked_prompt_is_a_200_without_candidates(emulator: Emulator) -> None:
    status, body = send(emulator, "POST", STREAM, {"contents": [user("/blocked")]}, alt="sse")
    (chunk,) = events(body)
    assert status == 200 and list(chunk) == [
        "promptFeedback",
        "usageMetadata",
        "modelVersion",
        "responseId",
        "turnToken",
    ]


def test_a_malformed_call_has_no_content(emulator: Emulator) -> None:
    assert "content" not in generate(emulator, {"contents": [user("/malformed")]})["candidates"][0]


def test_an_early_error_of_a_stream_is_a_plain_object(emulator: Emulator) -> None:
    status, body = send(emulator, "POST", STREAM, {"contents": []}, alt="sse")
    assert status == 400 and body.startswith(b'{\n  "error": {\n    "code": 400,')


def test_the_served_model_can_differ_from_the_asked_one(emulator: Emulator) -> None:
    assert generate(emulator, HELLO, "gemini-3-pro-preview")["modelVersion"] == "gemini-3.1-pro-preview"
    assert generate(emulator, HELLO, "gemini-flash-latest")["modelVersion"] == "gemini-3.6-flash"


@pytest.mark.parametrize("form", ["camel", "snake", "mixed"])
def test_both_spellings_are_one(emulator: Emulator, form: str) -> None:
    config = {
        "camel": {"generationConfig": {"thinkingConfig": {"includeThoughts": True}}},
        "snake": {"generation_config": {"thinking_config": {"include_thoughts": True}}},
        "mixed": {"generationConfig": {"thinkingConfig": {"include_thoughts": True}}},
    }[form]
    assert parts(generate(emulator, HELLO | config, NEW))[0]["thought"] is True


def test_whole_numbers_may_be_floats_and_strings(emulator: Emulator) -> None:
    assert "candidates" in generate(emulator, HELLO | {"generationConfig": {"topK": 40.0, "seed": "7"}})


def test_media_inside_a_function_response_is_counted(emulator: Emulator) -> None:
    picture = {"inline_data": {"mime_type": "image/png", "data": "aGk="}}
    done = answers(("f", {"ok": True}))
    done["parts"][0]["functionResponse"]["parts"] = [picture]
    usage = generate(emulator, {"contents": [user("a"), model(call("f", DUMMY_WORDS[0])), done]})[
        "usageMetadata"
    ]
    assert {"modality": "IMAGE", "tokenCount": 258} in usage["promptTokensDetails"]


def test_the_counter_is_the_bill(emulator: Emulator) -> None:
    counted = orjson.loads(send(emulator, "POST", f"models/{FLASH}:countTokens", LONG)[1])["totalTokens"]
    assert counted == generate(emulator, LONG)["usageMetadata"]["promptTokenCount"]
