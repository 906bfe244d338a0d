"""Google's SDKs and an agent of ADK through the relay: three turns with tools, also with changes."""

from pathlib import Path

import pytest

from tests.clients.captured import CapturedCall, RelayedServer, Talk, assert_explained, places
from tests.clients.running import TALKING_CLIENTS, Findings, RealClient, run_programs
from tests.clients.test_google_genai import FLIGHT_TEXT, WEATHER_TEXT

pytestmark = pytest.mark.slow

LONDON_TEXT = "Here is the weather:\n\n- **London**: 12C"
TEXTS = [FLIGHT_TEXT, WEATHER_TEXT, LONDON_TEXT]
REQUESTS = 7
"""Three to find the flight and a taxi, and two for each question about the weather."""

ONE_CHAIN = [("main", "opens", 0)] + [("main", "continues", 0)] * (REQUESTS - 1)
CHANGES = {"clock": "system", "reordered": "tools", "tool_left": "tools", "unsigned": "contents[1]"}
"""Step → the item in which a request leaves the one before it."""

CHANGED_AT = {
    "google-genai": {"clock": {3, 5}, "reordered": {5}, "tool_left": {5}, "unsigned": {3}},
    "google-adk": {"clock": {1, 2, 3, 4, 5, 6}},
}
"""Client → step → the requests that do so, from 0 on: the first one of a turn, or each."""


@pytest.fixture(scope="module", params=TALKING_CLIENTS, ids=str)
def client(request: pytest.FixtureRequest) -> RealClient:
    found: RealClient = request.param
    return found


@pytest.fixture(scope="module")
def unchanged(client: RealClient, relayed: RelayedServer, folder: Path) -> Talk[list[Findings]]:
    """The same program twice, one after the other: a unary and a streamed conversation each time."""

    def twice(base: str) -> list[Findings]:
        return [run_programs(client, base, folder, "unary", "streamed") for _ in range(2)]

    return relayed.talk(f"{client}, unchanged", twice)


@pytest.fixture(scope="module")
def changed(client: RealClient, relayed: RelayedServer, folder: Path) -> Talk[Findings]:
    return relayed.talk(
        f"{client}, changed", lambda base: run_programs(client, base, folder, *changes_of(client))
    )


def changes_of(client: RealClient) -> dict[str, set[int]]:
    return CHANGED_AT["google-adk" if client.name == "google-adk" else "google-genai"]


def test_bytes_are_equal_on_both_sides_and_in_the_rows(unchanged: Talk[list[Findings]]) -> None:
    unchanged.assert_bytes_are_equal()
    streamed = [call.is_streamed for call in unchanged.asked]
    assert streamed == ([False] * REQUESTS + [True] * REQUESTS) * 2


def test_the_client_got_its_answers(unchanged: Talk[list[Findings]]) -> None:
    assert [(told["unary"], told["streamed"]) for told in unchanged.told] == [(TEXTS, TEXTS)] * 2


def test_each_conversation_of_each_run_is_a_session(unchanged: Talk[list[Findings]]) -> None:
    assert [places(session) for session in unchanged.sessions] == [ONE_CHAIN] * 4
    assert not any(call.is_guess for call in unchanged.asked)


def test_nothing_changes_where_the_program_changes_nothing(
    relayed: RelayedServer, unchanged: Talk[list[Findings]]
) -> None:
    assert_explained(relayed.server, unchanged.asked, {})


def test_a_conversation_in_which_something_changes_is_one_session(
    client: RealClient, changed: Talk[Findings]
) -> None:
    changed.assert_bytes_are_equal()
    assert all(changed.told[step] == TEXTS for step in changes_of(client))
    assert [places(session) for session in changed.sessions] == [ONE_CHAIN] * len(changes_of(client))


def test_what_changed_is_named(client: RealClient, relayed: RelayedServer, changed: Talk[Findings]) -> None:
    culprits = {
        turn * REQUESTS + number: CHANGES[step]
        for turn, (step, numbers) in enumerate(changes_of(client).items())
        for number in numbers
    }
    assert_explained(relayed.server, changed.asked, culprits)


def guesses(calls: list[CapturedCall]) -> list[int]:
    return [number for number, call in enumerate(calls) if call.is_guess]


def test_a_changed_agent_is_a_guess_while_one_question_is_all_that_agrees(
    client: RealClient, changed: Talk[Findings]
) -> None:
    is_changed_at_once = client.name == "google-adk"
    assert guesses(changed.sessions[0]) == ([1] if is_changed_at_once else [])
