"""Declarations in either spelling of the protocol are one; names of a person's stay as they are."""

from typing import Any

import pytest

from sessions_app.audit.prefix import meaning
from sessions_app.audit.rows import StoredItem
from sessions_app.prompt import wire
from sessions_app.prompt.prompt_items import PromptItem
from sessions_app.prompt.saving_causes import ToolChange, tool_change
from sessions_app.prompt.spellings import spelled_alike

NAMES = "tools", "user", "declarations"
SCHEMA = {"type": "object", "properties": {"oven_id": {"type": "string", "minLength": 3}}}
CAMEL = [
    {
        "functionDeclarations": [
            {
                "name": "look_into",
                "parameters": SCHEMA | {"propertyOrdering": ["oven_id"]},
                "responseJsonSchema": {"$defs": {"a_b": {}}, "anyOf": []},
            }
        ]
    },
    {"googleSearch": {"timeRangeFilter": {"startTime": "2026-01-01"}}},
]
SNAKE = [
    {
        "function_declarations": [
            {
                "name": "look_into",
                "parameters": {
                    "type": "object",
                    "properties": {"oven_id": {"type": "string", "min_length": 3}},
                    "property_ordering": ["oven_id"],
                },
                "response_json_schema": {"$defs": {"a_b": {}}, "anyOf": []},
            }
        ]
    },
    {"google_search": {"time_range_filter": {"start_time": "2026-01-01"}}},
]


def renamed(old: str, new: str) -> Any:
    return wire.loads(wire.dumps(CAMEL).replace(old.encode(), new.encode()))


@pytest.mark.parametrize(
    ("other", "is_same"),
    [
        (SNAKE, True),
        (CAMEL, True),
        (renamed("oven_id", "ovenId"), False),
        (renamed("a_b", "aB"), False),
        (renamed("look_into", "lookInto"), False),
        ([*CAMEL, {"code_execution": {}}], False),
    ],
)
def test_the_same_tools_in_another_spelling_say_the_same(other: Any, is_same: bool) -> None:
    assert (spelled_alike(other) == spelled_alike(CAMEL)) is is_same
    items = [_declared(wire.dumps(one)) for one in (CAMEL, other)]
    assert (items[0].meaning == items[1].meaning) is is_same
    stored = [StoredItem(0, *NAMES, "static", "", wire.dumps(one), 1) for one in (CAMEL, other)]
    assert (meaning(stored[0]) == meaning(stored[1])) is is_same


def _declared(body: bytes) -> PromptItem:
    return PromptItem("static", *NAMES, body, 1, len(body), lambda: body)


def test_a_name_in_both_spellings_is_left_alone() -> None:
    both = {"codeExecution": {}, "code_execution": {"a": 1}}
    assert spelled_alike(both) == both


def test_another_spelling_is_no_change_of_a_tool() -> None:
    assert tool_change(wire.dumps(CAMEL), wire.dumps(SNAKE)) == ToolChange()
