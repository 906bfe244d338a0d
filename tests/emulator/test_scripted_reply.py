from typing import Any

import orjson
import pytest

from sessions_app.emulator import Emulator
from sessions_app.emulator.wire_model import decode_bytes
from tests.emulator.helpers import (
    FLASH,
    OPENING,
    Wire,
    answers,
    declare,
    generate,
    model,
    parts,
    send,
    stream,
    text_of,
    user,
)

OLD, LITE = "gemini-2.5-flash", "gemini-3.1-flash-lite"
TOOLS = declare(check_flight=["flight"], book_taxi=["time"])
SCHEMA = {"type": "OBJECT", "properties": {"word": {"type": "STRING"}}, "required": ["word"]}


def ask(text: str = "hello", **config: Any) -> Wire:
    return {"contents": [user(text)], "generationConfig": config}


def call_of(answer: Wire) -> Wire:
    found: Wire = parts(answer)[0].get("functionCall", {})
    return found


def demand(mode: str, *allowed: str) -> Wire:
    config = {"mode": mode} | ({"allowedFunctionNames": list(allowed)} if allowed else {})
    return ask() | {"tools": TOOLS, "toolConfig": {"functionCallingConfig": config}}


@pytest.mark.parametrize("spelling", ["responseSchema", "responseJsonSchema", "response_schema"])
def test_json_fits_the_schema(emulator: Emulator, spelling: str) -> None:
    body = ask()
    body["generationConfig"] = {"responseMimeType": "application/json", spelling: SCHEMA}
    assert orjson.loads(text_of(stream(emulator, body))) == {"word": "word"}


def test_json_without_a_schema_holds_the_answer(emulator: Emulator) -> None:
    said = orjson.loads(text_of(stream(emulator, ask(responseMimeType="application/json"))))
    assert OPENING in said["answer"]


def test_an_enum_is_one_of_its_words(emulator: Emulator) -> None:
    schema = {"type": "STRING", "enum": ["red", "blue"]}
    body = ask(responseMimeType="text/x.enum", responseSchema=schema)
    assert text_of([generate(emulator, body)]) == "red"


def test_a_stop_sequence_ends_the_text_before_it(emulator: Emulator) -> None:
    answer = generate(emulator, ask(stopSequences=["emulator", "nowhere"]))
    assert text_of([answer]).endswith("I am an ")
    assert answer["candidates"][0]["finishReason"] == "STOP"


def test_every_candidate_is_answered_and_counted(emulator: Emulator) -> None:
    one, three = (generate(emulator, ask(candidateCount=count), OLD) for count in (1, 3))
    assert [each["index"] for each in three["candidates"]] == [0, 1, 2]
    counts = [answer["usageMetadata"]["candidatesTokenCount"] for answer in (one, three)]
    assert counts[1] == 3 * counts[0]


def test_mode_any_always_calls(emulator: Emulator) -> None:
    assert call_of(generate(emulator, demand("ANY")))["name"] == "check_flight"
    forced = call_of(generate(emulator, demand("any", "book_taxi")))
    assert (forced["name"], forced["args"]) == ("book_taxi", {"time": "time"})


def test_calls_that_are_demanded_again_come_in_turn(emulator: Emulator) -> None:
    """An agent that ends with a function of its own would never end."""
    body, called = demand("ANY"), []
    for _ in range(3):
        said = parts(generate(emulator, body))
        called.append(said[0]["functionCall"]["name"])
        body["contents"] += [model(*said), answers((called[-1], {"status": "done"}))]
    assert called == ["check_flight", "book_taxi", "check_flight"]


@pytest.mark.parametrize(("limit", "is_cut"), [(1, True), (5, True), (60, False)])
def test_a_call_beyond_the_limit_leaves_an_answer_without_parts(
    emulator: Emulator, limit: int, is_cut: bool
) -> None:
    body = demand("ANY") | {"generationConfig": {"maxOutputTokens": limit}}
    for answer in (generate(emulator, body), stream(emulator, body)[-1]):
        (candidate,), usage = answer["candidates"], answer["usageMetadata"]
        assert candidate["finishReason"] == ("MAX_TOKENS" if is_cut else "STOP")
        assert usage.get("candidatesTokenCount", 0) + usage["thoughtsTokenCount"] <= limit
        assert (candidate["content"] == {"role": "model"}) == is_cut


def test_without_thoughts_a_cut_call_counts_nothing(emulator: Emulator) -> None:
    thinking = {"thinkingConfig": {"thinkingLevel": "MINIMAL"}}
    body = demand("ANY") | {"generationConfig": {"maxOutputTokens": 5} | thinking}
    usage = generate(emulator, body)["usageMetadata"]
    assert not {"candidatesTokenCount", "thoughtsTokenCount"} & usage.keys()


@pytest.mark.parametrize("mode", ["AUTO", "VALIDATED", "NONE"])
def test_other_modes_let_the_model_speak(emulator: Emulator, mode: str) -> None:
    assert text_of([generate(emulator, demand(mode))])


def test_mode_none_keeps_even_a_cue_from_calling(emulator: Emulator) -> None:
    body = demand("NONE") | {"contents": [user("Check flight status for AA100")]}
    assert not call_of(generate(emulator, body))


def test_a_mode_in_the_cache_is_honoured(emulator: Emulator) -> None:
    cached = demand("ANY") | {"model": FLASH, "contents": [user("word " * 1_000)]}
    del cached["generationConfig"]
    made = orjson.loads(send(emulator, "POST", "cachedContents", cached)[1])
    assert call_of(generate(emulator, {"contents": [user("hi")], "cachedContent": made["name"]}))


def after_a_tool(**config: Any) -> Wire:
    """A finished round; under 2.5 nothing needs a signature, under 3 the dummy serves."""
    asked = {
        "functionCall": {"name": "check_flight", "args": {}},
        "thoughtSignature": "context_engineering_is_the_way_to_go",
    }
    contents = [user("hello"), model(asked), answers(("check_flight", {"status": "ok"}))]
    return {"contents": contents, "tools": TOOLS, "generationConfig": config}


def signed(answer: Wire) -> bool:
    return any("thoughtSignature" in part for part in parts(answer))


def test_gemini_3_leaves_a_text_after_a_tool_unsigned_when_it_did_not_think(emulator: Emulator) -> None:
    idle = {"thinkingLevel": "minimal"}
    chunks = stream(emulator, after_a_tool(thinkingConfig=idle))
    assert parts(chunks[-1]) == [{"text": ""}]
    assert not signed(generate(emulator, after_a_tool(thinkingConfig=idle)))
    assert signed(generate(emulator, after_a_tool()))
    assert signed(generate(emulator, ask(thinkingConfig=idle)))


def test_flash_lite_signs_everything_in_54_bytes(emulator: Emulator) -> None:
    answer = generate(emulator, after_a_tool(thinkingConfig={"thinkingLevel": "minimal"}), LITE)
    signature = decode_bytes(parts(answer)[0]["thoughtSignature"])
    assert isinstance(signature, bytes) and len(signature) == 54


def test_2_5_signs_the_first_text_chunk_when_it_could_have_called(emulator: Emulator) -> None:
    chunks = stream(emulator, after_a_tool(), OLD)
    long = stream(emulator, ask("/long") | {"tools": TOOLS}, OLD)
    assert signed(chunks[0])
    assert [signed(chunk) for chunk in long] == [True] + [False] * (len(long) - 1)
    assert not any(map(signed, stream(emulator, ask("/long"), OLD)))


@pytest.mark.parametrize(
    ("name", "thinking", "thinks"),
    [
        (OLD, {}, True),
        (OLD, {"thinkingBudget": 0}, False),
        ("gemini-2.5-flash-lite", {}, False),
        ("gemini-2.5-flash-lite", {"includeThoughts": True}, False),
        ("gemini-2.5-flash-lite", {"thinkingBudget": -1}, True),
        ("gemini-2.5-flash-lite", {"thinkingBudget": 512}, True),
        (LITE, {}, True),
    ],
)
def test_the_lite_model_of_2_5_thinks_within_a_budget_only(
    emulator: Emulator, name: str, thinking: Wire, thinks: bool
) -> None:
    usage = generate(emulator, ask(thinkingConfig=thinking), name)["usageMetadata"]
    assert ("thoughtsTokenCount" in usage) is thinks
