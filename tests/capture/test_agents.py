"""Whether two requests come from one agent whose instruction or tools have changed."""

from typing import Any

import pytest

from sessions_app.capture.agents import OPENING, SKETCH, Agent, agent_of
from sessions_app.prompt.parts import content, text_part

GUIDE = "Help people with their travels, in short sentences."
TOOLS = [{"functionDeclarations": [{"name": name} for name in ("weather", "flights", "taxis")]}]


def agent(system: str = GUIDE, tools: Any = TOOLS) -> Agent:
    return agent_of(content("user", [text_part(system)]), tools)


def declared(*names: str, description: str = "") -> Any:
    return [{"functionDeclarations": [{"name": name, "description": description} for name in names]}]


@pytest.mark.parametrize("hour", [9, 10])
def test_a_clock_in_the_instruction_leaves_the_agent_what_it_is(hour: int) -> None:
    assert agent(f"{GUIDE} The time is {hour}:00.").is_like(agent(f"{GUIDE} The time is 11:00."))


def test_documents_behind_a_common_beginning_leave_it_what_it_is() -> None:
    begun = "Answer from the documents below, and say where something stands there.\n"
    first, second = (begun + " ".join(f"{word}{n}" for n in range(500)) for word in ("a", "b"))
    assert len(begun) > OPENING and agent(first).is_like(agent(second))
    assert not agent(first[OPENING:]).is_like(agent(second[OPENING:]))


@pytest.mark.parametrize(
    "tools",
    [
        declared("taxis", "flights", "weather"),
        declared("weather", "flights"),
        declared("taxis"),
        declared("weather", "flights", "taxis", "hotels"),
        declared("weather", "flights", "taxis", description="at 10:00"),
    ],
)
def test_tools_in_another_order_or_one_of_them_leave_it_what_it_is(tools: Any) -> None:
    assert agent(tools=tools).is_like(agent())


def test_another_instruction_or_other_tools_are_another_agent() -> None:
    assert not agent("Give this conversation a title of at most five words.").is_like(agent())
    assert not agent(tools=declared("search", "read", "write")).is_like(agent())


def test_an_agent_may_go_on_without_any_tools_but_only_with_its_instruction() -> None:
    assert agent(tools=None).may_follow(agent()) and agent().may_follow(agent(tools=None))
    assert not agent(tools=None).is_like(agent())
    assert not agent_of(None, None).may_follow(agent_of(None, TOOLS)), "nothing says whose it is"


def test_a_long_instruction_is_known_by_a_sample_of_its_words() -> None:
    words = [f"word{number}" for number in range(5_000)]
    found, later = agent(" ".join(words)), agent(" ".join([*words[:2_500], "10:05", *words[2_500:]]))
    assert len(found.words) == SKETCH and later.is_like(found)


@pytest.mark.parametrize("system", [None, 3, [], "x", {"parts": "x"}, {"parts": [{"text": 3}, 4]}])
@pytest.mark.parametrize("tools", [None, 3, [], {}, [3], [{"googleSearch": {}}], [{"x": [{"name": 3}, 4]}]])
def test_whatever_stands_there_is_an_agent(system: Any, tools: Any) -> None:
    found = agent_of(system, tools)
    assert found.is_like(agent_of(system, tools))
