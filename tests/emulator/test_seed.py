"""The two examples of seed 2, through the real SDK, and what it says must be refused."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from google.genai import errors, types
from google.genai.client import AsyncClient

from sessions_app.emulator import Emulator
from tests.emulator.helpers import FLASH, answers, call, declare, generate, model, parts, refusal, user

FLIGHT = "Check flight status for AA100 and book a taxi 2 hours before if delayed."
WEATHER = "Check the weather in Paris and London."
FLIGHT_TOOLS = declare(check_flight=["flight"], book_taxi=["time"])
WEATHER_TOOLS = declare(get_current_temperature=["location"])
DELAYED = ("check_flight", {"status": "delayed", "departure_time": "12 PM"})
BOOKED = ("book_taxi", {"booking_status": "success"})
PARIS, LONDON = (("get_current_temperature", {"temp": temp}) for temp in ("15C", "12C"))

Step = Callable[[list[Any]], Awaitable[types.Content]]


@pytest.fixture
def step(sdk: AsyncClient) -> Step:
    """One unary step with every tool of the seed declared: the model's content."""

    async def take(contents: list[Any]) -> types.Content:
        config = types.GenerateContentConfig(tools=FLIGHT_TOOLS + WEATHER_TOOLS)
        reply = await sdk.models.generate_content(model=FLASH, contents=contents, config=config)
        assert reply.candidates and reply.candidates[0].content
        return reply.candidates[0].content

    return take


async def test_the_flight_and_taxi_example_plays(step: Step) -> None:
    first = await step([user(FLIGHT)])
    second = await step([user(FLIGHT), first, answers(DELAYED)])
    last = await step([user(FLIGHT), first, answers(DELAYED), second, answers(BOOKED)])
    assert _calls(first) == [("check_flight", {"flight": "AA100"}, True)]
    assert _calls(second) == [("book_taxi", {"time": "10 AM"}, True)]
    assert _calls(last) == []
    assert last.parts and last.parts[0].text
    assert "delayed" in last.parts[0].text and "10 AM" in last.parts[0].text


async def test_a_flight_on_time_needs_no_taxi(step: Step) -> None:
    first = await step([user(FLIGHT)])
    last = await step([user(FLIGHT), first, answers(("check_flight", {"status": "on time"}))])
    assert last.parts and "No taxi is needed" in (last.parts[0].text or "")


async def test_the_paris_and_london_example_plays(step: Step) -> None:
    first = await step([user(WEATHER)])
    last = await step([user(WEATHER), first, answers(PARIS, LONDON)])
    name = "get_current_temperature"
    assert _calls(first) == [(name, {"location": "Paris"}, True), (name, {"location": "London"}, False)]
    assert last.parts and last.parts[0].text
    assert "**Paris**: 15C" in last.parts[0].text and "**London**: 12C" in last.parts[0].text


async def test_the_indonesian_wording_is_a_cue_too(step: Step) -> None:
    asked = await step([user("Cek cuaca di Paris dan London")])
    assert [args["location"] for _, args, _ in _calls(asked)] == ["Paris", "London"]


async def test_interleaved_parallel_answers_are_refused(step: Step) -> None:
    asked = await step([user(WEATHER)])
    assert asked.parts
    first, second = (types.Content(role="model", parts=[part]) for part in asked.parts)
    with pytest.raises(errors.ClientError, match="missing a thought_signature") as refused:
        await step([user(WEATHER), first, answers(PARIS), second, answers(LONDON)])
    assert refused.value.code == 400


def test_answers_in_two_contents_are_refused(emulator: Emulator) -> None:
    asked = generate(emulator, {"contents": [user(WEATHER)], "tools": WEATHER_TOOLS})
    contents = [user(WEATHER), model(*parts(asked)), answers(PARIS), answers(LONDON)]
    assert "number of function response parts is equal" in refusal(emulator, {"contents": contents})


def test_a_changed_argument_of_the_seed_is_accepted(emulator: Emulator) -> None:
    """The seed answers with `city` where the model said `location`."""
    asked = parts(generate(emulator, {"contents": [user(WEATHER)], "tools": WEATHER_TOOLS}))
    returned = [call("get_current_temperature", asked[0]["thoughtSignature"], city="Paris"), asked[1]]
    assert not refusal(emulator, {"contents": [user(WEATHER), model(*returned), answers(PARIS, LONDON)]})


def _calls(content: types.Content) -> list[tuple[str, dict[str, Any], bool]]:
    return [
        (part.function_call.name or "", part.function_call.args or {}, part.thought_signature is not None)
        for part in content.parts or []
        if part.function_call
    ]
