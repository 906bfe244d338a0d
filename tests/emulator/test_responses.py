import pytest

from sessions_app.emulator import Emulator
from tests.emulator.helpers import Wire, declare, generate, parts, stream, user

OLD, NEW = "gemini-2.5-flash", "gemini-3.5-flash"
TOOLS = declare(get_current_temperature=["location"])
HELLO: Wire = {"contents": [user("hello")]}
WEATHER: Wire = {"contents": [user("weather in Paris and London")], "tools": TOOLS}
SHOWN: Wire = {"generationConfig": {"thinkingConfig": {"includeThoughts": True}}}


def signed(found: list[Wire]) -> list[bool]:
    return ["thoughtSignature" in part for part in found]


def finishes(chunks: list[Wire]) -> list[str]:
    return [chunk["candidates"][0].get("finishReason", "") for chunk in chunks]


def test_gemini_3_signs_an_empty_text_at_the_end_of_a_stream(emulator: Emulator) -> None:
    chunks = stream(emulator, HELLO, NEW)
    assert not any(signed(parts(chunk)) != [False] for chunk in chunks[:-1])
    assert parts(chunks[-1])[0]["text"] == "" and signed(parts(chunks[-1])) == [True]
    assert finishes(chunks) == [""] * (len(chunks) - 1) + ["STOP"]


def test_gemini_3_signs_the_last_text_of_a_unary_answer(emulator: Emulator) -> None:
    found = parts(generate(emulator, HELLO | SHOWN, NEW))
    assert found[0]["thought"] and found[-1]["text"]
    assert signed(found) == [False, True]


def test_gemini_3_streams_each_call_alone_and_ends_with_an_empty_text(emulator: Emulator) -> None:
    chunks = stream(emulator, WEATHER, NEW)
    assert [signed(parts(chunk)) for chunk in chunks] == [[True], [False], [False]]
    assert parts(chunks[-1]) == [{"text": ""}]
    assert finishes(chunks) == ["", "", "STOP"]


def test_gemini_3_names_its_calls(emulator: Emulator) -> None:
    names = [part["functionCall"]["id"] for part in parts(generate(emulator, WEATHER, NEW))]
    assert len(set(names)) == 2 and all(len(name) == 8 for name in names)


def test_gemini_2_5_sends_all_calls_in_its_last_chunk(emulator: Emulator) -> None:
    chunks = stream(emulator, WEATHER, OLD)
    assert [signed(parts(chunk)) for chunk in chunks] == [[True, False]]
    assert finishes(chunks) == ["STOP"]
    assert chunks[0]["candidates"][0]["finishMessage"] == "Model generated function call(s)."
    assert "id" not in parts(chunks[0])[0]["functionCall"]


def test_gemini_2_5_signs_no_text(emulator: Emulator) -> None:
    chunks = stream(emulator, HELLO, OLD)
    assert not any(signed(parts(chunk)) != [False] for chunk in chunks)
    assert parts(chunks[-1])[0]["text"] and finishes(chunks)[-1] == "STOP"


def test_thoughts_come_first_and_only_on_request(emulator: Emulator) -> None:
    chunks = stream(emulator, HELLO | SHOWN)
    assert [bool(parts(chunk)[0].get("thought")) for chunk in chunks[:2]] == [True, False]
    assert "candidatesTokenCount" not in chunks[0]["usageMetadata"]
    assert not any(parts(chunk)[0].get("thought") for chunk in stream(emulator, HELLO))


@pytest.mark.parametrize("thinking", [{"thinkingLevel": "minimal"}, {"thinkingBudget": 0}])
def test_who_may_not_think_spends_no_thoughts(emulator: Emulator, thinking: Wire) -> None:
    usage = generate(emulator, HELLO | {"generationConfig": {"thinkingConfig": thinking}})["usageMetadata"]
    assert "thoughtsTokenCount" not in usage


def test_a_stream_has_one_response_id_and_the_served_model(emulator: Emulator) -> None:
    chunks = stream(emulator, HELLO)
    assert len({chunk["responseId"] for chunk in chunks}) == 1
    assert {chunk["modelVersion"] for chunk in chunks} == {"gemini-3-flash-preview"}


def test_too_many_output_tokens_are_cut(emulator: Emulator) -> None:
    body = HELLO | {"generationConfig": {"maxOutputTokens": 100}}
    chunks = stream(emulator, body)
    usage = chunks[-1]["usageMetadata"]
    assert finishes(chunks)[-1] == "MAX_TOKENS"
    assert usage["candidatesTokenCount"] + usage["thoughtsTokenCount"] <= 100


def test_thoughts_can_spend_all_output_tokens(emulator: Emulator) -> None:
    (chunk,) = stream(emulator, HELLO | {"generationConfig": {"maxOutputTokens": 10}})
    assert chunk["candidates"][0]["content"] == {"role": "model"} and finishes([chunk]) == ["MAX_TOKENS"]
    assert chunk["usageMetadata"]["thoughtsTokenCount"] <= 10


def test_the_same_sequence_gives_the_same_bytes() -> None:
    first, second = Emulator(delay=0), Emulator(delay=0)
    bodies = (HELLO, WEATHER, HELLO)
    assert [stream(first, body) for body in bodies] == [stream(second, body) for body in bodies]


def test_a_repeated_request_is_another_response(emulator: Emulator) -> None:
    assert stream(emulator, HELLO)[0]["responseId"] != stream(emulator, HELLO)[0]["responseId"]
