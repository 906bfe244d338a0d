"""An agent of google-adk whose tools are called by a model of the emulator."""

import pytest

from tests.clients.running import Findings
from tests.clients.test_google_genai import FLIGHT_TEXT, WEATHER_TEXT
from tests.emulator.helpers import OPENING

pytestmark = pytest.mark.slow

THREE_PLACES = [f"get_current_temperature {place}" for place in ("London", "Paris", "Rome")]
THREE_TEXT = f"{WEATHER_TEXT}\n- **Rome**: 21C"


def test_an_agent_answers(adk: Findings) -> None:
    assert adk["text"]["text"].startswith(f"Hello! {OPENING}") and adk["text"]["calls"] == []


@pytest.mark.parametrize("step", ["sequential", "streamed_sequential"])
def test_a_call_that_depends_on_another_comes_after_it(adk: Findings, step: str) -> None:
    told = adk[step]
    assert told["calls"] == ["check_flight", "book_taxi"] and told["signed"] == [True, True]
    assert told["called"] == ["book_taxi 10 AM", "check_flight AA100"] and told["text"] == FLIGHT_TEXT


@pytest.mark.parametrize("step", ["parallel", "streamed_parallel"])
def test_three_parallel_calls_are_answered_together(adk: Findings, step: str) -> None:
    told = adk[step]
    assert told["called"] == THREE_PLACES and told["signed"] == [True, False, False]
    assert told["text"] == THREE_TEXT


def test_parallel_calls_work_with_an_older_model(adk: Findings) -> None:
    assert adk["older_model"]["called"] == THREE_PLACES and adk["older_model"]["text"] == THREE_TEXT
