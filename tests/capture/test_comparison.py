"""Recorded conversations of real clients: each request begins with all that the one before said."""

import pytest

from sessions_app.capture.comparison import prompt_items
from sessions_app.capture.cutting import cut
from sessions_app.capture.placements import Relation
from sessions_app.prompt.logical_prompt import shared_prefix
from tests.capture.conversations import body_of, model, user
from tests.capture.recordings import generating, grouped, needs_captures


@needs_captures
@pytest.mark.parametrize("folder", ["gemini-cli-acp", "adk-sse", "genai-py-3.4-v1", "pydantic-ai"])
def test_a_request_that_goes_on_breaks_nothing(folder: str) -> None:
    exchanges = {one.key: one for one in generating(folder)}
    places = grouped(exchanges.values())
    continued = [key for key, place in places.items() if place.relation == Relation.CONTINUES]
    assert continued
    for key in continued:
        before, now = (cut(exchanges[one].body).prompt for one in (places[key].before, key))
        shared = shared_prefix(prompt_items(before), prompt_items(now))
        assert shared.parting is None and shared.items == len(before), key


def test_tools_that_come_last_on_the_wire_are_read_first() -> None:
    """Native clients write contents before system instruction and tools."""
    one = cut(body_of([user("Which?")]))
    other = cut(body_of([user("Which?"), model("This."), user("Why?")], tools=[{"googleSearch": {}}]))
    shared = shared_prefix(prompt_items(one.prompt), prompt_items(other.prompt))
    assert shared.parting is not None and shared.parting.place.item == 0 and shared.items == 0
