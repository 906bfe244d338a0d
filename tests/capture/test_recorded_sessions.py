"""The recorded clients become the sessions that the index of the recordings tells of."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sessions_app.capture.placements import LaneRole, Placement, Relation
from tests.capture.recordings import (
    Recorded,
    generating,
    grouped,
    needs_captures,
    partition,
    recorded,
)

pytestmark = needs_captures

SESSIONS = {
    "adk-sse": [9],
    "curl": [1, 1, 1],
    "gemini-cli-503": [2],
    "gemini-cli-acp": [17],
    "gemini-cli-other-session": [3],
    "genai-js-2.32": [1, 1, 9],
    "genai-py-3.4-gzip": [1, 1],
    "genai-py-3.4-upload": [],
    "genai-py-3.4-v1": [1, 1, 9, 1],
    "genai-py-interactions": [],
    "generativeai-py": [1, 1],
    "openai-py": [],
    "pydantic-ai": [9],
}
"""Folder → requests of each session, in order."""

LARGEST_JITTER = 0.05


def numbers(folder: str, places: dict[str, Placement], **wanted: object) -> list[int]:
    """The requests whose placement has these values."""
    return [
        int(key.split("/")[1].split("+")[0])
        for key, place in sorted(places.items())
        if key.startswith(folder) and all(getattr(place, name) == value for name, value in wanted.items())
    ]


def later(exchanges: Sequence[Recorded], seconds: float) -> list[Recorded]:
    return [
        replace(one, key=f"{one.key}+{seconds:.0f}", at=one.at + seconds, ended_at=one.ended_at + seconds)
        for one in exchanges
    ]


def shape(places: dict[str, Placement]) -> dict[str, object]:
    """What does not depend on which of two requests came first."""
    lanes = {
        key: sorted(other for other in places if places[other].lane == place.lane)
        for key, place in places.items()
    }
    return {key: (place.relation, place.role, place.is_guess, lanes[key]) for key, place in places.items()}


@pytest.mark.parametrize("folder", SESSIONS)
def test_each_folder_becomes_its_sessions(folder: str) -> None:
    assert [len(keys) for keys in partition(grouped(generating(folder)))] == SESSIONS[folder]


def test_a_folder_that_nobody_described_is_noticed() -> None:
    from tests.capture.recordings import SHARED

    assert {path.name for path in SHARED.iterdir() if path.is_dir()} == set(SESSIONS)


def test_what_is_no_question_to_a_model_has_no_contents_or_another_method() -> None:
    others = [one for folder in SESSIONS for one in recorded(folder) if one.traits is None]
    assert others and not [one for one in others if ":generateContent" in one.path]


def test_router_and_sub_agents_of_gemini_cli_stand_beside_its_main_lane() -> None:
    places = grouped(generating("gemini-cli-acp"))
    assert numbers("gemini-cli-acp", places, role=LaneRole.SIDE) == [1, 5, 9, 16]
    assert numbers("gemini-cli-acp", places, role=LaneRole.SUB_AGENT) == [11, 12, 13, 14]
    assert numbers("gemini-cli-acp", places, relation=Relation.SUB_AGENT) == [11, 13]
    lanes = {place.lane for place in places.values()}
    assert len(lanes) == 4, "main, router and two agents side by side"
    assert numbers("gemini-cli-acp", places, is_guess=True) == [1, 13], "one text alone; the word “how”"


def test_the_same_bytes_after_a_503_are_a_retry() -> None:
    places = grouped(generating("gemini-cli-503"))
    assert places["gemini-cli-503/002"].relation == Relation.RETRY


def test_an_agent_that_was_transferred_to_is_a_lane_by_a_guess() -> None:
    places = grouped(generating("adk-sse"))
    assert numbers("adk-sse", places, relation=Relation.SUB_AGENT, is_guess=True) == [7]
    assert numbers("adk-sse", places, role=LaneRole.SUB_AGENT) == [7, 8, 9]


def test_unrelated_sessions_of_one_folder_and_program_stay_apart() -> None:
    both = [
        replace(one, traits=replace(one.traits, scope="the same program"))
        for folder in ("gemini-cli-acp", "gemini-cli-other-session", "gemini-cli-503")
        for one in generating(folder)
        if one.traits
    ]
    both.sort(key=lambda one: one.at)
    assert sorted(len(keys) for keys in partition(grouped(both))) == [2, 3, 17]


def test_everything_at_once_by_time_is_what_it_is_alone() -> None:
    everything = [one for folder in SESSIONS for one in generating(folder)]
    everything.sort(key=lambda one: one.at)
    found = partition(grouped(everything))
    alone = [keys for folder in SESSIONS for keys in partition(grouped(generating(folder)))]
    assert sorted(found) == sorted(alone)


@pytest.mark.parametrize("folder", [name for name, sizes in SESSIONS.items() if sizes])
@pytest.mark.parametrize("pause", [1.0, 3_600.0])
def test_two_identical_runs_one_after_the_other_are_two_sessions(folder: str, pause: float) -> None:
    first = generating(folder)
    length = max(one.ended_at for one in first) - min(one.at for one in first)
    found = partition(grouped([*first, *later(first, length + pause)]))
    assert [len(keys) for keys in found] == SESSIONS[folder] * 2 or sorted(map(len, found)) == sorted(
        SESSIONS[folder] * 2
    )
    assert all(len({"+" in key for key in keys}) == 1 for keys in found), "no session has requests of both"


@pytest.mark.parametrize("folder", [name for name, sizes in SESSIONS.items() if sum(sizes) > 1])
@given(jitters=st.lists(st.floats(0, LARGEST_JITTER), min_size=17, max_size=17))
@settings(max_examples=40)
def test_requests_that_come_50_ms_later_change_nothing(folder: str, jitters: list[float]) -> None:
    exchanges = generating(folder)
    places = grouped(exchanges)
    moved: dict[str, Recorded] = {}
    for one, jitter in zip(exchanges, jitters, strict=False):
        # Nobody goes on with an answer that has not ended.
        is_caused = places[one.key].relation in (Relation.CONTINUES, Relation.RETRY, Relation.SUB_AGENT)
        earliest = moved[places[one.key].before].ended_at if is_caused else 0.0
        at = max(one.at + jitter, earliest)
        moved[one.key] = replace(one, at=at, ended_at=at + one.ended_at - one.at)
    shuffled = sorted(moved.values(), key=lambda one: one.at)
    found = grouped(shuffled)
    assert sorted(map(sorted, partition(found))) == sorted(map(sorted, partition(places)))
    assert shape(found) == shape(places)


def test_the_router_may_come_after_the_request_that_it_routes() -> None:
    exchanges = generating("gemini-cli-acp")
    swapped = list(exchanges)
    for number, following in pairwise(range(len(swapped))):
        if exchanges[number].key.endswith(("001", "009", "016")):
            swapped[number], swapped[following] = exchanges[following], exchanges[number]
    found = grouped([replace(one, at=at, ended_at=at + 0.5) for at, one in enumerate(swapped)])
    assert shape(found) == shape(grouped(exchanges))
