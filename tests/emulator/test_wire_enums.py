from typing import Any

import pytest

from sessions_app.emulator import Emulator
from sessions_app.emulator.gemini_requests import GenerateRequest
from sessions_app.emulator.wire_model import validate
from tests.emulator.helpers import Wire, declare, refusal, user

TYPES = "type.googleapis.com/google.ai.generativelanguage.v1beta."


def ask(**fields: Any) -> Wire:
    return {"contents": [user("hello")], "tools": declare(f=["a"]), **fields}


def mode_of(value: Any) -> str:
    request = validate(GenerateRequest, ask(toolConfig={"functionCallingConfig": {"mode": value}}))
    assert request.tool_config
    return request.tool_config.mode


@pytest.mark.parametrize("value", ["ANY", "any", "Any", 2, "2"])
def test_an_enum_comes_as_a_name_in_any_case_or_as_a_number(value: Any) -> None:
    assert mode_of(value) == "ANY"


@pytest.mark.parametrize("value", [None, "", "MODE_UNSPECIFIED", 0, 99])
def test_what_says_nothing_is_the_default(value: Any) -> None:
    assert mode_of(value) == "AUTO"


@pytest.mark.parametrize(
    ("fields", "where", "kind", "shown"),
    [
        (
            {"generationConfig": {"thinkingConfig": {"thinkingLevel": "huge"}}},
            "generation_config.thinking_config.thinking_level",
            "ThinkingConfig.ThinkingLevel",
            '"huge"',
        ),
        (
            {"toolConfig": {"functionCallingConfig": {"mode": "SOME"}}},
            "tool_config.function_calling_config.mode",
            "FunctionCallingConfig.Mode",
            '"SOME"',
        ),
        (
            {"safetySettings": [{"category": 7, "threshold": 4}, {"category": "HARM_CATEGORY_RUDE"}]},
            "safety_settings[1].category",
            "HarmCategory",
            '"HARM_CATEGORY_RUDE"',
        ),
        (
            {"safetySettings": [{"threshold": True}]},
            "safety_settings[0].threshold",
            "SafetySetting.HarmBlockThreshold",
            "true",
        ),
        (
            {"tools": [{"functionDeclarations": [{"name": "f", "parameters": {"type": "objekt"}}]}]},
            "tools[0].function_declarations[0].parameters.type",
            "Type",
            '"objekt"',
        ),
    ],
)
def test_a_name_that_there_is_not_is_refused_with_the_type(
    emulator: Emulator, fields: Wire, where: str, kind: str, shown: str
) -> None:
    assert refusal(emulator, ask(**fields)) == f"Invalid value at '{where}' ({TYPES}{kind}), {shown}"
