"""gemini-wire §6 and recorded-traffic "Signatures": one test a rule."""

import pytest

from sessions_app.emulator import Emulator
from sessions_app.emulator.signer import DUMMY_WORDS
from sessions_app.emulator.wire_model import decode_bytes
from tests.emulator.helpers import Wire, answers, call, declare, generate, model, parts, refusal, stream, user

NEW, OLD = "gemini-3.5-flash", "gemini-2.5-flash"
ASKED: Wire = {
    "contents": [user("weather in Paris and London")],
    "tools": declare(get_current_temperature=["location"]),
}
DONE = answers(*[("get_current_temperature", {"temp": "15C"})] * 2)


def returned(*found: Wire, then: tuple[Wire, ...] = ()) -> Wire:
    return ASKED | {"contents": [*ASKED["contents"], model(*found), DONE, *then]}


def without(part: Wire) -> Wire:
    return {key: value for key, value in part.items() if key != "thoughtSignature"}


@pytest.fixture
def calls(emulator: Emulator) -> list[Wire]:
    """Two parallel calls, the first of them signed."""
    return parts(generate(emulator, ASKED, NEW))


def test_only_the_first_parallel_call_is_signed(calls: list[Wire]) -> None:
    assert ["thoughtSignature" in part for part in calls] == [True, False]


def test_the_current_turn_starts_at_the_newest_user_text(emulator: Emulator, calls: list[Wire]) -> None:
    bare = [without(part) for part in calls]
    assert "position 2" in refusal(emulator, returned(*bare), NEW)
    assert not refusal(emulator, returned(*bare, then=(user("and now?"),)), NEW)


def test_every_step_of_the_turn_is_checked(emulator: Emulator, calls: list[Wire]) -> None:
    second = model(call("get_current_temperature"))
    body = returned(*calls, then=(second, answers(("get_current_temperature", {}))))
    assert "position 4" in refusal(emulator, body, NEW)


@pytest.mark.parametrize("level", ["minimal", "low", "high"])
def test_every_thinking_level_needs_signatures(emulator: Emulator, calls: list[Wire], level: str) -> None:
    body = returned(*map(without, calls)) | {"generationConfig": {"thinkingConfig": {"thinkingLevel": level}}}
    assert "missing a thought_signature" in refusal(emulator, body, NEW)


def test_2_5_never_checks(emulator: Emulator, calls: list[Wire]) -> None:
    assert not refusal(emulator, returned(*map(without, calls)), OLD)


def test_a_text_may_lose_its_signature(emulator: Emulator) -> None:
    said = parts(generate(emulator, {"contents": [user("hello")]}, NEW))
    assert not refusal(emulator, {"contents": [user("hello"), model(without(said[0])), user("go on")]}, NEW)


def test_a_part_may_hold_only_a_signature(emulator: Emulator) -> None:
    tail = parts(stream(emulator, {"contents": [user("hello")]}, NEW)[-1])[0]
    alone = {"thoughtSignature": tail["thoughtSignature"]}
    assert not refusal(emulator, {"contents": [user("a"), model({"text": "b"}, alone), user("c")]}, NEW)


@pytest.mark.parametrize("word", DUMMY_WORDS)
def test_a_dummy_is_accepted(emulator: Emulator, calls: list[Wire], word: str) -> None:
    assert not refusal(emulator, returned(calls[0] | {"thoughtSignature": word}, calls[1]), NEW)


def test_a_signature_belongs_to_its_model(emulator: Emulator, calls: list[Wire]) -> None:
    assert refusal(emulator, returned(*calls), "gemini-3.8-flash") == "Corrupted thought signature."


def test_an_alias_signs_as_the_model_behind_it(emulator: Emulator) -> None:
    found = parts(generate(emulator, ASKED, "gemini-3-pro-preview"))
    assert not refusal(emulator, returned(*found), "gemini-3.1-pro-preview")


def test_bytes_are_compared_not_letters(emulator: Emulator, calls: list[Wire]) -> None:
    url_safe = calls[0]["thoughtSignature"].replace("+", "-").replace("/", "_").rstrip("=")
    assert not refusal(emulator, returned(calls[0] | {"thoughtSignature": url_safe}, calls[1]), NEW)


def test_a_signature_is_standard_base64_with_padding(emulator: Emulator) -> None:
    found = [parts(generate(emulator, {"contents": [user(f"hello {at}")]}, NEW))[-1] for at in range(20)]
    letters = [part["thoughtSignature"] for part in found]
    assert all(len(one) % 4 == 0 and not set("-_") & set(one) for one in letters)
    assert {"+", "/"} <= set("".join(letters))


def test_a_signature_grows_with_the_thoughts(emulator: Emulator) -> None:
    sizes = [
        len(_bytes(parts(generate(emulator, {"contents": [user(text)]}, NEW))[-1]))
        for text in ("hello", "/think")
    ]
    assert 100 <= sizes[0] < sizes[1]


@pytest.mark.parametrize(("served", "first"), [(NEW, "E"), (OLD, "C")])
def test_a_signature_begins_as_its_family_does(emulator: Emulator, served: str, first: str) -> None:
    assert parts(generate(emulator, ASKED, served))[0]["thoughtSignature"][0] == first


def test_thoughts_are_never_signed(emulator: Emulator) -> None:
    body = {"contents": [user("hello")], "generationConfig": {"thinkingConfig": {"includeThoughts": True}}}
    found = [part for chunk in stream(emulator, body, NEW) for part in parts(chunk)]
    assert not any("thoughtSignature" in part for part in found if part.get("thought"))


def _bytes(part: Wire) -> bytes:
    value = decode_bytes(part["thoughtSignature"])
    assert isinstance(value, bytes)
    return value
