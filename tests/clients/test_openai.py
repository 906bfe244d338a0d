"""The openai clients for Python and Node through the OpenAI-compatible endpoint of the emulator."""

import pytest

from tests.clients.running import Findings
from tests.clients.test_google_genai import FLIGHT_CALLS, FLIGHT_TEXT, PLACES, WEATHER_TEXT
from tests.emulator.helpers import FLASH, OPENING

pytestmark = pytest.mark.slow


def test_it_reads_an_answer_and_its_usage(openai: Findings) -> None:
    told = openai["text"]
    assert told["text"].startswith(f"Hello! {OPENING}")
    assert told["finish"] == "stop" and told["total"] > 0


def test_it_streams_and_ends_with_the_usage(openai: Findings) -> None:
    told = openai["stream"]
    assert told["chunks"] > 2 and told["text"].startswith(f"Hello! {OPENING}")
    assert told["finish"] == "stop" and told["total"] > 0


@pytest.mark.parametrize("step", ["sequential", "streamed_sequential"])
def test_it_plays_the_sequential_example_with_signatures(openai: Findings, step: str) -> None:
    assert openai[step] == {"calls": FLIGHT_CALLS, "signed": [[True], [True]], "text": FLIGHT_TEXT}


@pytest.mark.parametrize("step", ["parallel", "streamed_parallel"])
def test_it_plays_the_parallel_example_with_signatures(openai: Findings, step: str) -> None:
    assert openai[step] == {"calls": PLACES, "signed": [[True, False]], "text": WEATHER_TEXT}


def test_only_true_signatures_are_taken(openai: Findings) -> None:
    told = openai["signatures"]
    assert told["true"] == {"raised": ""}
    assert told["altered"]["code"] == 400 and "Corrupted thought signature" in told["altered"]["message"]
    assert told["missing"]["code"] == 400 and "missing a thought_signature" in told["missing"]["message"]


def test_it_gets_what_a_schema_asks_for(openai: Findings) -> None:
    told = openai["structured"]
    assert isinstance(told["city"], str) and isinstance(told["people"], int)


def test_it_understands_the_errors(openai: Findings) -> None:
    told = openai["errors_of_requests"]
    assert told["bad key"]["raised"] == "BadRequestError"
    assert "API key not valid" in told["bad key"]["message"]
    assert told["lost model"]["raised"] == "NotFoundError" and "gemini-none" in told["lost model"]["message"]
    assert told["overloaded"]["raised"] == "InternalServerError" and told["overloaded"]["code"] == 503


def test_it_lists_models(openai: Findings) -> None:
    assert f"models/{FLASH}" in openai["listed_models"]
