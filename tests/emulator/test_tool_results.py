"""The examples of seed 2 with function results as clients wrap them."""

import json
from collections.abc import Callable

import pytest

from sessions_app.emulator import Emulator
from sessions_app.emulator.gemini_requests import FunctionResponse
from sessions_app.emulator.tool_results import result_of
from tests.emulator.helpers import Wire, answers, declare, generate, model, parts, text_of, user

FLIGHT = "Check flight status for AA100 and book a taxi 2 hours before if delayed."
TOOLS = declare(check_flight=["flight"], book_taxi=["time"], get_current_temperature=["location"])
DELAYED, BOOKED = {"status": "delayed", "departure_time": "12 PM"}, {"booking_status": "success"}

Wrapping = Callable[[Wire], Wire]
WRAPPINGS: dict[str, Wrapping] = {
    "bare": lambda result: result,
    "AFC of google-genai": lambda result: {"result": result},
    "JSON text": lambda result: {"result": json.dumps(result)},
    "llm": lambda result: {"output": json.dumps(result)},
    "both": lambda result: {"output": json.dumps({"result": result})},
}
NAMED: dict[str, Callable[[str, Wire], Wire]] = {
    "AI SDK, Genkit": lambda name, result: {"name": name, "content": result},
    "with a text": lambda name, result: {"name": name, "content": json.dumps(result)},
    "both": lambda name, result: {"name": name, "content": {"result": result}},
}


@pytest.mark.parametrize("wrap", WRAPPINGS.values(), ids=WRAPPINGS.keys())
def test_the_flight_example_plays_however_results_are_wrapped(emulator: Emulator, wrap: Wrapping) -> None:
    contents = [user(FLIGHT)]
    for name, result in (("check_flight", DELAYED), ("book_taxi", BOOKED)):
        called = parts(generate(emulator, {"contents": contents, "tools": TOOLS}))
        assert called[0]["functionCall"]["name"] == name
        contents += [model(*called), answers((name, wrap(result)))]
    said = text_of([generate(emulator, {"contents": contents, "tools": TOOLS})])
    assert said == "Flight AA100 is delayed, departing at 12 PM. I booked a taxi for 10 AM."


@pytest.mark.parametrize("wrap", WRAPPINGS.values(), ids=WRAPPINGS.keys())
def test_the_weather_example_plays_however_results_are_wrapped(emulator: Emulator, wrap: Wrapping) -> None:
    ask = user("Check the weather in Paris and London.")
    called = parts(generate(emulator, {"contents": [ask], "tools": TOOLS}))
    results = answers(*(("get_current_temperature", wrap({"temp": temp})) for temp in ("15C", "12C")))
    said = text_of([generate(emulator, {"contents": [ask, model(*called), results], "tools": TOOLS})])
    assert "- **Paris**: 15C\n- **London**: 12C" in said


@pytest.mark.parametrize("wrap", NAMED.values(), ids=NAMED.keys())
def test_the_flight_example_plays_where_the_name_stands_beside_the_result(
    emulator: Emulator, wrap: Callable[[str, Wire], Wire]
) -> None:
    contents = [user(FLIGHT)]
    for name, result in (("check_flight", DELAYED), ("book_taxi", BOOKED)):
        called = parts(generate(emulator, {"contents": contents, "tools": TOOLS}))
        contents += [model(*called), answers((name, wrap(name, result)))]
    said = text_of([generate(emulator, {"contents": contents, "tools": TOOLS})])
    assert said == "Flight AA100 is delayed, departing at 12 PM. I booked a taxi for 10 AM."


def test_calls_of_one_answer_may_come_back_as_rounds_of_their_own(emulator: Emulator) -> None:
    """As google-adk for JavaScript sends those of a stream, with the signature of the first at each."""
    ask = user("Check the weather in Paris and London.")
    paris, london = parts(generate(emulator, {"contents": [ask], "tools": TOOLS}))
    london |= {"thoughtSignature": paris["thoughtSignature"]}
    contents = [ask]
    for called, temp in ((paris, "15C"), (london, "12C")):
        contents += [model(called), answers(("get_current_temperature", {"temp": temp}))]
    said = text_of([generate(emulator, {"contents": contents, "tools": TOOLS})])
    assert "- **Paris**: 15C\n- **London**: 12C" in said


@pytest.mark.parametrize(
    ("response", "result"),
    [
        ({"result": 14}, {"result": 14}),
        ({"result": "[1, 2]"}, {"result": "[1, 2]"}),
        ({"output": "no JSON {"}, {"output": "no JSON {"}),
        ({"output": {"status": "late"}, "id": 1}, {"output": {"status": "late"}, "id": 1}),
        ({"todos": {"result": 1}}, {"todos": {"result": 1}}),
        ({"return_value": {"a": 1}}, {"a": 1}),
        ({"name": "ping", "content": "pong"}, {"content": "pong"}),
        ({"name": "ping", "content": {"content": {"a": 1}}}, {"content": {"a": 1}}),
        ({"name": "a file", "content": {"a": 1}}, {"name": "a file", "content": {"a": 1}}),
        ({"content": {"a": 1}}, {"content": {"a": 1}}),
        (None, {}),
    ],
)
def test_only_a_wrapping_around_an_object_is_taken_off(response: Wire | None, result: Wire) -> None:
    assert result_of(FunctionResponse(name="ping", response=response)) == result
