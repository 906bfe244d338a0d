"""What differs by model family in the form of an answer. Each fact is from traffic; README.md says which."""

import base64
from dataclasses import replace
from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.emulator import Emulator
from sessions_app.emulator.answer_form import FORMS, NEWEST, FormTable, Signable
from sessions_app.emulator.catalogue import MODELS
from sessions_app.emulator.responses import turn_token
from sessions_app.emulator.scripted_reply import ScriptedCall, ScriptedReply
from tests.emulator.helpers import Wire, declare, generate, parts, stream, user

PRO, FLASH, NEW, TOKENS = "gemini-2.5-pro", "gemini-2.5-flash", "gemini-3-flash-preview", "gemini-3.5-flash"
SHORT = "Two words and then some more of them."
CALLS = (ScriptedCall("add", {"a": 2}), ScriptedCall("multiply", {"a": 2}))
ASKED: Wire = {"contents": [user("hello")], "tools": declare(add=["a"], multiply=["a"])}


def playing(forms: FormTable = NEWEST, **script: object) -> Emulator:
    reply = replace(ScriptedReply(), **script)  # type: ignore[arg-type]
    return Emulator(delay=0, play=lambda _: reply, forms=forms)


def calls_in(chunks: list[Wire]) -> list[int]:
    return [sum("functionCall" in part for part in parts(chunk)) for chunk in chunks]


def signed_in(chunks: list[Wire]) -> list[int]:
    """The chunks that hold a signature."""
    return [at for at, chunk in enumerate(chunks) if any("thoughtSignature" in part for part in parts(chunk))]


def test_2_5_pro_streams_each_call_alone_and_signs_the_first() -> None:
    chunks = stream(playing(calls=CALLS, thoughts=("so",)), ASKED, PRO)
    assert (calls_in(chunks), signed_in(chunks)) == ([1, 1], [0])
    candidates = [chunk["candidates"][0] for chunk in chunks]
    assert [candidate.get("finishReason") for candidate in candidates] == [None, "STOP"]
    assert ["finishMessage" in candidate for candidate in candidates] == [False, True]


def test_2_5_flash_streams_all_calls_together() -> None:
    chunks = stream(playing(calls=CALLS, thoughts=("so",)), ASKED, FLASH)
    assert (calls_in(chunks), signed_in(chunks)) == ([2], [0])


def test_gemini_3_streams_each_call_alone_and_ends_with_an_empty_unsigned_text() -> None:
    chunks = stream(playing(calls=CALLS, thoughts=("so",)), ASKED, NEW)
    assert (calls_in(chunks), signed_in(chunks)) == ([1, 1, 0], [0])
    assert parts(chunks[-1]) == [{"text": ""}] and chunks[-1]["candidates"][0]["finishReason"] == "STOP"


@pytest.mark.parametrize("model", [PRO, FLASH, NEW])
def test_where_text_and_calls_share_an_answer_the_first_call_is_signed(model: str) -> None:
    played = playing(text=SHORT, calls=CALLS, thoughts=("so",))
    whole, chunks = generate(played, ASKED, model), stream(played, ASKED, model)
    assert ["thoughtSignature" in part for part in parts(whole)] == [False, True, False]
    found = [part for chunk in chunks for part in parts(chunk)]
    said = [part for part in found if part.get("text")]
    assert "".join(part["text"] for part in said) == SHORT and found[: len(said)] == said
    assert ["thoughtSignature" in part for part in found if "functionCall" in part] == [True, False]
    assert not any("thoughtSignature" in part for part in said)


@pytest.mark.parametrize(("model", "is_signed"), [(PRO, False), (FLASH, False), (NEW, True), (TOKENS, True)])
def test_a_call_without_thoughts_is_unsigned_before_gemini_3(model: str, is_signed: bool) -> None:
    played = playing(calls=CALLS)
    assert bool(signed_in(stream(played, ASKED, model))) == is_signed
    assert bool(signed_in([generate(played, ASKED, model)])) == is_signed


@pytest.mark.parametrize("model", [PRO, FLASH])
def test_a_short_text_of_2_5_comes_in_two_chunks_unless_it_was_thought_about(model: str) -> None:
    told = stream(playing(text=SHORT), ASKED, model)
    assert [parts(chunk)[0]["text"] for chunk in told] == ["Two", SHORT[3:]]
    assert len(stream(playing(text=SHORT, unseen_thoughts=40), ASKED, model)) == 1


def test_a_turn_token_follows_the_response_id_of_3_5_flash_only() -> None:
    for answer in (
        stream(playing(text=SHORT), ASKED, TOKENS)[0],
        generate(playing(text=SHORT), ASKED, TOKENS),
    ):
        assert list(answer)[-2:] == ["responseId", "turnToken"]
        assert answer["turnToken"] == turn_token(answer["responseId"])
    others = set(MODELS) - {TOKENS}
    assert not [name for name in others if "turnToken" in generate(playing(text=SHORT), ASKED, name)]


@given(st.text("abcXYZ019-_", min_size=20, max_size=24))
def test_a_turn_token_is_a_protobuf_with_the_id_twice(response_id: str) -> None:
    version, _, text = turn_token(response_id).partition("_")
    data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    half = len(data) // 2
    assert version == "v1" and "=" not in text and (data[0], data[half]) == (0x0A, 0x12)
    assert data[2:half] == data[half + 2 :] == response_id.encode() and data[1] == len(response_id)


def test_the_last_chunk_of_an_unexpected_call_names_nothing() -> None:
    played = playing(finish="UNEXPECTED_TOOL_CALL", has_content=False)
    (chunk,) = stream(played, ASKED, TOKENS)
    assert list(chunk) == ["candidates", "usageMetadata"] and "content" not in chunk["candidates"][0]
    assert "responseId" in generate(played, ASKED, TOKENS)


@pytest.mark.parametrize(
    ("model", "key", "day"),
    [
        (NEW, "serviceTier", date(2026, 5, 13)),
        (TOKENS, "turnToken", date(2026, 8, 31)),
        (NEW, "id", date(2026, 5, 5)),
    ],
)
def test_a_key_is_there_from_its_day_on(model: str, key: str, day: date) -> None:
    for days, is_there in ((-1, False), (0, True)):
        emulator = playing(FormTable(day=day + timedelta(days)), calls=CALLS)
        assert (f"'{key}'" in str(generate(emulator, ASKED, model))) == is_there


def test_2_5_never_names_its_calls() -> None:
    assert "'id'" not in str(generate(playing(calls=CALLS), ASKED, FLASH))


def test_every_model_has_a_form_and_every_form_a_model() -> None:
    used = {id(NEWEST.of(model.version)) for model in MODELS.values()}
    assert {id(form) for form in FORMS.values()} == used | {id(FORMS["gemini-2"])}


def test_thoughts_and_functions_decide_what_is_signed() -> None:
    assert FORMS["gemini-2"].signed < FORMS["gemini-"].signed < FORMS["gemini-3.1-flash-lite"].signed
    assert Signable.RESULT_UNTHOUGHT not in FORMS["gemini-"].signed
