"""The generate request that an interaction stands for."""

from typing import Any

import pytest

from sessions_app.emulator.catalogue import Model, find_model
from sessions_app.emulator.interactions_errors import InteractionError
from sessions_app.emulator.interactions_prompt import to_generate_request
from sessions_app.emulator.interactions_requests import InteractionRequest
from tests.emulator.helpers import FLASH, Wire

CALL = {"type": "function_call", "id": "c1", "name": "f", "arguments": {"a": 1}}
THOUGHT = {"type": "thought", "signature": "c2ln", "summary": [{"type": "text", "text": "hm"}]}


def model(name: str = FLASH) -> Model:
    found = find_model(name)
    assert found
    return found


def native(asked: Any, name: str = FLASH, **body: Any) -> Wire:
    request = InteractionRequest.model_validate({"model": name, "input": asked} | body)
    made = to_generate_request(request, request.input, model(name))
    dumped: Wire = made.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    return dumped


def contents(asked: Any) -> list[Wire]:
    found: list[Wire] = native(asked)["contents"]
    return found


def result(value: Any, **more: Any) -> Wire:
    return {"type": "function_result", "call_id": "c1", "result": value} | more


def response(value: Any, **more: Any) -> Wire:
    part: Wire = contents([CALL, result(value, **more)])[-1]["parts"][0]["functionResponse"]
    return part


def test_a_signature_stands_on_the_part_behind_its_thought() -> None:
    signed, other = contents([THOUGHT, CALL, CALL | {"id": "c2"}])[0]["parts"]
    assert signed["thoughtSignature"] == "c2ln" and "thoughtSignature" not in other
    (text,) = contents([THOUGHT, {"type": "model_output", "content": [{"type": "text", "text": "x"}]}])[0][
        "parts"
    ]
    assert (text["text"], text["thoughtSignature"]) == ("x", "c2ln")
    (lonely,) = contents([THOUGHT])[0]["parts"]
    assert (lonely["text"], lonely["thoughtSignature"]) == ("", "c2ln")


def test_a_call_keeps_a_signature_of_its_own() -> None:
    (part,) = contents([THOUGHT | {"signature": ""}, CALL | {"signature": "b3du"}])[0]["parts"]
    assert part["thoughtSignature"] == "b3du"


def test_results_in_a_row_are_one_content() -> None:
    calls = [CALL, CALL | {"id": "c2"}]
    made = contents([*calls, result("x"), result("y", call_id="c2")])
    assert [len(content["parts"]) for content in made] == [2, 2]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"ok": True}, {"ok": True}),
        ("plain", {"result": "plain"}),
        ('{"ok": true}', {"ok": True}),
        ("[1]", {"result": "[1]"}),
        ([{"type": "text", "text": '{"ok": true}'}], {"ok": True}),
        ([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], {"result": "ab"}),
        (3, {"result": 3}),
    ],
)
def test_every_form_of_a_result_is_an_object(value: Any, expected: Wire) -> None:
    assert response(value)["response"] == expected


def test_a_result_is_named_after_its_call_and_says_that_it_failed() -> None:
    assert (response("x")["name"], response("x")["id"]) == ("f", "c1")
    assert response("x", is_error=True)["response"] == {"error": {"result": "x"}}


def test_media_of_a_result_are_parts_of_it() -> None:
    image = {"type": "image", "data": "aGk=", "mime_type": "image/png"}
    (part,) = response([{"type": "text", "text": "see"}, image])["parts"]
    assert part["inlineData"]["mimeType"] == "image/png"


def test_a_result_without_a_call_is_refused() -> None:
    with pytest.raises(InteractionError, match="No function call"):
        contents([result("x")])


def test_a_level_is_a_budget_where_there_are_no_levels() -> None:
    config = {"thinking_level": "low", "thinking_summaries": "auto"}
    new = native("x", generation_config=config)["generationConfig"]["thinkingConfig"]
    old = native("x", "gemini-2.5-flash", generation_config=config)["generationConfig"]["thinkingConfig"]
    assert new == {"includeThoughts": True, "thinkingLevel": "LOW"}
    assert old == {"includeThoughts": True, "thinkingBudget": 1_024}


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        ("any", {"mode": "ANY"}),
        (
            {"allowed_tools": {"mode": "any", "tools": ["f"]}},
            {"mode": "ANY", "allowedFunctionNames": ["f"]},
        ),
    ],
)
def test_a_tool_choice_is_a_calling_mode(choice: Any, expected: Wire) -> None:
    body = native("x", tools=[{"type": "function", "name": "f"}], generation_config={"tool_choice": choice})
    assert body["toolConfig"]["functionCallingConfig"] == expected


def test_the_providers_tools_stay_in_the_request() -> None:
    own = ("google_search", "code_execution", "url_context")
    tools = native("x", tools=[{"type": name} for name in own])["tools"]
    assert tools == [{"googleSearch": {}}, {"codeExecution": {}}, {"urlContext": {}}]
