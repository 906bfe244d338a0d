"""The examples of seed 2, to the letter."""

from typing import Any

import pytest

from sessions_app.panels import TOOLBOX
from sessions_app.tools import ToolContext

CHECK_FLIGHT = {
    "name": "check_flight",
    "description": "Gets the current status of a flight",
    "parameters": {
        "type": "object",
        "properties": {"flight": {"type": "string", "description": "The flight number to check"}},
        "required": ["flight"],
    },
}


@pytest.mark.parametrize(
    ("name", "args", "response"),
    [
        ("check_flight", {"flight": "AA100"}, {"status": "delayed", "departure_time": "12 PM"}),
        ("book_taxi", {"time": "10 AM"}, {"booking_status": "success"}),
        ("get_current_temperature", {"location": "Paris"}, {"temp": "15C"}),
        ("get_current_temperature", {"location": "London"}, {"temp": "12C"}),
    ],
)
async def test_it_answers_as_the_seed_says(
    context: ToolContext, name: str, args: dict[str, Any], response: dict[str, str]
) -> None:
    assert (await TOOLBOX.run(name, args, context)).response == response


def test_it_is_declared_as_the_seed_says() -> None:
    assert TOOLBOX.declarations({"check_flight"}) == [CHECK_FLIGHT]


@pytest.mark.parametrize(
    ("name", "argument"), [("check_flight", "flight"), ("get_current_temperature", "location")]
)
async def test_other_questions_have_steady_answers(context: ToolContext, name: str, argument: str) -> None:
    first, second = [await TOOLBOX.run(name, {argument: "XY77"}, context) for _ in range(2)]
    assert first == second
    assert not first.failed
