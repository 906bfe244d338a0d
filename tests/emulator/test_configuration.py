from typing import Any

import pytest

from sessions_app.emulator import Emulator
from sessions_app.emulator.catalogue import MODELS
from tests.emulator.wire import FLASH, declare, refusal, user

PRO, OLD, OLD_PRO, ARGON = "gemini-3.1-pro-preview", "gemini-2.5-flash", "gemini-2.5-pro", "gemini-4-argon"
TOOLS = declare(check_flight=["flight"])


def ask(**config: Any) -> dict[str, Any]:
    return {"contents": [user("hello")], "generationConfig": config}


@pytest.mark.parametrize(
    ("model", "thinking", "message"),
    [
        (OLD, {"thinkingLevel": "low"}, "Thinking level is not supported for this model."),
        (PRO, {"thinkingLevel": "minimal"}, "Thinking level MINIMAL is not supported for this model."),
        (FLASH, {"thinkingLevel": "XHIGH"}, "Thinking level XHIGH is not supported for this model."),
        (OLD_PRO, {"thinkingBudget": 0}, "Budget 0 is invalid. This model only works in thinking mode."),
        (
            ARGON,
            {"thinkingBudget": 5},
            "Thinking budget is not supported for this model. Use thinking level instead.",
        ),
        (
            FLASH,
            {"thinkingBudget": 5, "thinkingLevel": "LOW"},
            "You can only set only one of thinking budget and thinking level.",
        ),
    ],
)
def test_a_way_of_thinking_the_model_lacks_is_refused(
    emulator: Emulator, model: str, thinking: dict[str, Any], message: str
) -> None:
    assert refusal(emulator, ask(thinkingConfig=thinking), model) == message


def test_an_unknown_level_is_named_with_its_path(emulator: Emulator) -> None:
    message = refusal(emulator, ask(thinkingConfig={"thinkingLevel": "huge"}))
    assert message.startswith("Invalid value at 'generation_config.thinking_config.thinking_level' (type.")
    assert message.endswith('"HUGE"')


@pytest.mark.parametrize("model", [FLASH, PRO, OLD, OLD_PRO, ARGON])
def test_every_supported_level_is_taken(emulator: Emulator, model: str) -> None:
    for level in MODELS[model].levels:
        assert not refusal(emulator, ask(thinkingConfig={"thinkingLevel": level.lower()}), model)


def test_gemini_3_answers_once(emulator: Emulator) -> None:
    assert refusal(emulator, ask(candidateCount=2)) == "Multiple candidates is not enabled for this model"
    assert not refusal(emulator, ask(candidateCount=1))


def test_too_many_candidates_are_out_of_range(emulator: Emulator) -> None:
    assert "candidateCount value of 9" in refusal(emulator, ask(candidateCount=9), OLD)
    assert not refusal(emulator, ask(candidateCount=8), OLD)


@pytest.mark.parametrize("heat", [-0.1, 1000])
def test_a_temperature_out_of_range_is_refused_in_the_recorded_words(emulator: Emulator, heat: float) -> None:
    assert refusal(emulator, ask(temperature=heat)) == (
        f"Unable to submit request because it has a temperature value of {heat:g} but the supported range "
        "is from 0 (inclusive) to 2.0001 (exclusive). Update the value and try again."
    )


def test_a_calling_mode_needs_functions(emulator: Emulator) -> None:
    mode = {"toolConfig": {"functionCallingConfig": {"mode": "ANY"}}}
    words = "Function calling config is set without function_declarations."
    assert refusal(emulator, ask() | mode) == words
    assert not refusal(emulator, ask() | mode | {"tools": TOOLS})
    mode["toolConfig"]["includeServerSideToolInvocations"] = True  # type: ignore[assignment]
    assert not refusal(emulator, ask() | mode)


def test_before_gemini_3_functions_and_json_exclude_each_other(emulator: Emulator) -> None:
    body = ask(responseMimeType="application/json") | {"tools": TOOLS}
    words = "Function calling with a response mime type: 'application/json' is unsupported"
    assert refusal(emulator, body, OLD) == words
    assert not refusal(emulator, body, FLASH)
