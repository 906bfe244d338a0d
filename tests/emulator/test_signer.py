import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.emulator import Emulator
from sessions_app.emulator.catalogue import MODELS
from sessions_app.emulator.signer import DUMMY_WORDS, Signer, step_digest
from tests.emulator.helpers import FLASH, answers, call, declare, generate, model, parts, refusal, user

PLAY = MODELS[FLASH]
MINT = Signer(b"one secret")
TOOLS = declare(check_flight=["flight"])
ASK = user("Check flight status for AA100")
DONE = answers(("check_flight", {"status": "on time"}))


def signature_from(emulator: Emulator, served: str = FLASH) -> str:
    asked = generate(emulator, {"contents": [ASK], "tools": TOOLS}, served)
    signature: str = parts(asked)[0]["thoughtSignature"]
    return signature


def with_signature(signature: str) -> dict[str, object]:
    return {"contents": [ASK, model(call("check_flight", signature)), DONE], "tools": TOOLS}


def test_a_missing_signature_is_the_recorded_400(emulator: Emulator) -> None:
    message = refusal(emulator, with_signature(""))
    assert message == (
        "Function call is missing a thought_signature in functionCall parts. This is required for tools to "
        "work correctly, and missing thought_signature may lead to degraded model performance. Additional "
        "data, function call `default_api:check_flight` , position 2. Please refer to "
        "https://ai.google.dev/gemini-api/docs/thought-signatures for more details."
    )


def test_an_altered_signature_is_corrupted(emulator: Emulator) -> None:
    signature = signature_from(emulator)
    middle = len(signature) // 2
    altered = signature[:middle] + ("A" if signature[middle] != "A" else "B") + signature[middle + 1 :]
    assert refusal(emulator, with_signature(altered)) == "Corrupted thought signature."


def test_a_signature_of_another_model_is_corrupted(emulator: Emulator) -> None:
    foreign = signature_from(emulator, "gemini-3.5-flash")
    assert refusal(emulator, with_signature(foreign)) == "Corrupted thought signature."


def test_a_signature_of_another_step_is_corrupted(emulator: Emulator) -> None:
    contents = [ASK, model(call("book_taxi", signature_from(emulator))), answers(("book_taxi", {}))]
    assert refusal(emulator, {"contents": contents}) == "Corrupted thought signature."


def test_signatures_are_valid_in_another_process_with_the_same_secret(emulator: Emulator) -> None:
    assert not refusal(Emulator(delay=0), with_signature(signature_from(emulator)))


def test_signatures_of_another_secret_are_corrupted(emulator: Emulator) -> None:
    foreign = signature_from(Emulator(delay=0, secret=b"another"))
    assert refusal(emulator, with_signature(foreign)) == "Corrupted thought signature."


@pytest.mark.parametrize("word", DUMMY_WORDS)
def test_a_dummy_is_accepted_in_both_spellings(emulator: Emulator, word: str) -> None:
    assert not refusal(emulator, with_signature(word))
    assert not refusal(emulator, with_signature(base64.b64encode(word.encode()).decode()))


def test_past_turns_are_not_checked(emulator: Emulator) -> None:
    contents = [ASK, model(call("check_flight")), DONE, model({"text": "Fine."}), user("Thanks")]
    assert not refusal(emulator, {"contents": contents})


def test_gemini_2_5_is_not_checked(emulator: Emulator) -> None:
    assert not refusal(emulator, with_signature(""), "gemini-2.5-flash")


def test_a_text_without_its_signature_is_accepted(emulator: Emulator) -> None:
    contents = [user("What is the risk?"), model({"text": "High."}), user("Summarize it.")]
    assert not refusal(emulator, {"contents": contents})


@pytest.mark.parametrize("key", ["thoughtSignature", "thought_signature"])
def test_the_url_safe_alphabet_without_padding_is_the_same_signature(emulator: Emulator, key: str) -> None:
    signature = signature_from(emulator).replace("+", "-").replace("/", "_").rstrip("=")
    asked = call("check_flight") | {key: signature}
    assert not refusal(emulator, {"contents": [ASK, model(asked), DONE]})


def test_what_is_not_base64_is_refused_with_its_path(emulator: Emulator) -> None:
    message = refusal(emulator, with_signature("not base64!"))
    assert message.startswith("Invalid value at 'contents[1].parts[0].thought_signature' (TYPE_BYTES)")


def test_signatures_use_the_whole_standard_alphabet() -> None:
    made = [base64.b64encode(MINT.sign(PLAY, f"response {n}", "text", 30)).decode() for n in range(20)]
    assert {"+", "/"} <= set("".join(made))
    assert all(text.startswith("E") and len(text) % 4 == 0 for text in made)


@given(thoughts=st.integers(0, 5_000), step=st.text(), response_id=st.text())
def test_a_seal_says_what_was_signed(thoughts: int, step: str, response_id: str) -> None:
    made = MINT.sign(PLAY, response_id, step, thoughts)
    seal = MINT.open(PLAY, made)
    assert len(made) >= 100
    assert seal and seal.thoughts == thoughts and seal.step == step_digest(step)


@given(st.data())
def test_no_single_altered_byte_passes(data: st.DataObject) -> None:
    made = bytearray(MINT.sign(PLAY, "response", "text", 40))
    at = data.draw(st.integers(0, len(made) - 1))
    made[at] ^= data.draw(st.integers(1, 255))
    assert MINT.open(PLAY, bytes(made)) is None


@given(st.binary(max_size=300))
def test_arbitrary_bytes_never_open(noise: bytes) -> None:
    assert MINT.open(PLAY, noise) is None
