"""Where a captured request leaves the one before it, and what made it so."""

from typing import Any

import pytest
from django.contrib.auth.models import User

from sessions_app.capture.comparison import captured_prompt, prompt_items
from sessions_app.capture.cutting import cut
from sessions_app.capture.placements import Relation
from sessions_app.models import CaptureAddress
from sessions_app.prompt.logical_prompt import shared_prefix
from sessions_app.prompt.parts import content, without_signature
from sessions_app.prompt.prefix_diff import BreakKind
from tests.capture.conversations import TOOLS, body_of, call, model, result, user
from tests.capture.recordings import generating, grouped, needs_captures
from tests.capture.test_recording import Program


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


CALLED = call("weather", city="Oslo")
CALLED["parts"][0] |= {"thoughtSignature": "c2lnbmF0dXJl"}
UNSIGNED = content("model", [without_signature(part) for part in CALLED["parts"]])
GONE = [{"functionDeclarations": [{"name": "weather"}, {"name": "scales"}]}]


@pytest.mark.parametrize(
    ("changes", "kind", "source"),
    [
        ({"system": "Be brief. The time is 10:05."}, BreakKind.CHANGED, "system"),
        ({"tools": GONE}, BreakKind.CHANGED, "tools"),
        ({"tools": None}, BreakKind.GONE, "tools"),
        (
            {"contents": [user("Which?"), UNSIGNED, result("weather", sky="clear")]},
            BreakKind.CHANGED,
            "contents[1]",
        ),
    ],
)
@pytest.mark.django_db
def test_what_changed_is_named_not_what_stands_in_its_place(
    alice: User, changes: dict[str, Any], kind: BreakKind, source: str
) -> None:
    program = Program(CaptureAddress.issue(alice.pk, "Laptop")[0])
    contents = [user("Which?"), CALLED, result("weather", sky="clear")]
    before = {"contents": contents, "system": "Be brief. The time is 10:00.", "tools": TOOLS}
    program.ask(body_of(**before))
    now = before | changes
    now["contents"] = [*now["contents"], model("This."), user("Why?")]
    broken = captured_prompt(program.ask(body_of(**now))).broken
    assert broken is not None and (broken.kind, broken.source) == (kind, source)
