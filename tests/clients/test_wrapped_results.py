"""google-genai for Python wraps what a function returns as `{"result": …}`."""

import pytest

from tests.clients.running import Findings
from tests.clients.test_google_genai import FLIGHT_TEXT, WEATHER_TEXT

pytestmark = pytest.mark.slow


def test_the_sequential_example_is_played_to_its_end(genai: Findings) -> None:
    told = genai["automatic_sequential"]
    assert told["calls"] == ["check_flight", "book_taxi"] and told["signed"] == [[True], [True]]
    assert told["text"] == FLIGHT_TEXT


def test_the_parallel_example_shows_the_values_alone(genai: Findings) -> None:
    assert genai["automatic_parallel"]["text"] == WEATHER_TEXT
