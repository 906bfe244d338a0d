from typing import Any

from sessions_app.prompt.renditions.assembly import (
    assemble_messages,
    declarations_of,
    has_user_text,
    schema_of,
)
from sessions_app.prompt.renditions.blocks import Text, said
from sessions_app.prompt.renditions.dynamic_panels import ACKNOWLEDGED, REPEATED
from sessions_app.prompt.signatures import DUMMY
from sessions_app.prompt.turns import user_task
from tests.prompt.examples import answers, call, calling
from tests.prompt.renditions.examples import CONVERSATION, EMPTY, FLIGHT, STATIC, original

HELLO = user_task("1", "Hello")
CUT_OFF = (calling("1", call("f", "QUJD")), answers("2", "f"))
"""A tool loop whose user text has moved into the cached history."""


def test_the_system_prompt_is_repeated_after_the_panels_and_before_the_conversation() -> None:
    told = assemble_messages(original(HELLO), repeats_system=True)
    assert told[-3:] == [
        said("user", REPEATED + STATIC),
        said("assistant", ACKNOWLEDGED),
        said("user", "Hello"),
    ]
    assert told[-5].answers[0].id == "panel_footer"


def test_without_panels_nothing_is_repeated() -> None:
    assert assemble_messages(original(HELLO, panels=(EMPTY,)), repeats_system=True) == [said("user", "Hello")]


def test_panels_need_no_signature_where_a_text_of_the_user_follows() -> None:
    told = assemble_messages(original())
    last_call = max(at for at, one in enumerate(told) for call in one.calls if call.name == "dynamic_panel")
    assert has_user_text(told[last_call + 1 :])
    assert not any(call.signature for one in told for call in one.calls if call.name == "dynamic_panel")


def test_panels_carry_the_stand_in_where_no_text_of_the_user_follows() -> None:
    told = assemble_messages(original(*CUT_OFF))
    assert {call.signature for one in told for call in one.calls} == {DUMMY, "QUJD"}


def test_a_summarised_turn_is_told_as_its_summary() -> None:
    told = assemble_messages(original(*CONVERSATION), panels_as_calls=False)
    summary = told[0].blocks[-1]
    assert isinstance(summary, Text) and summary.text.endswith("They spoke about flights.")


def test_the_dynamic_layer_can_be_one_message_of_the_user() -> None:
    (message,) = assemble_messages(original(HELLO), panels_as_calls=False)
    assert message.blocks == (Text(original().dynamic_text), Text("Hello"))


def test_declarations_are_found_in_both_spellings() -> None:
    tools: list[dict[str, Any]] = [
        {"functionDeclarations": [FLIGHT]},
        {"function_declarations": [{"name": "b"}]},
        {"googleSearch": {}},
    ]
    assert [one["name"] for one in declarations_of(tools)] == ["check_flight", "b"]


def test_type_names_become_lower_case_and_a_property_called_type_is_no_type() -> None:
    schema = schema_of(FLIGHT)
    assert schema["type"] == "object"
    assert schema["properties"] == {"flight": {"type": "string"}, "type": {"type": "string"}}


def test_nested_types_become_lower_case_and_values_do_not() -> None:
    inner = {"type": "ARRAY", "items": {"type": "STRING", "enum": ["A"]}, "anyOf": [{"type": "NULL"}]}
    assert schema_of({"parameters": inner}) == {
        "type": "array",
        "items": {"type": "string", "enum": ["A"]},
        "anyOf": [{"type": "null"}],
    }


def test_a_function_without_parameters_has_an_empty_object() -> None:
    assert schema_of({"name": "now"}) == {"type": "object", "properties": {}}


def test_json_schema_is_taken_as_it_is() -> None:
    schema = {"type": "object", "properties": {"a": {"const": 1}}}
    assert schema_of({"parametersJsonSchema": schema}) == schema
