"""The clients of Google against the emulator that stands alone: Python, its older release, and JavaScript."""

import pytest

from tests.clients.running import Findings
from tests.emulator.helpers import FLASH, OPENING

pytestmark = pytest.mark.slow

FLIGHT_CALLS = [["check_flight", {"flight": "AA100"}], ["book_taxi", {"time": "10 AM"}]]
FLIGHT_TEXT = "Flight AA100 is delayed, departing at 12 PM. I booked a taxi for 10 AM."
WEATHER_TEXT = "Here is the weather:\n\n- **Paris**: 15C\n- **London**: 12C"
PLACES = [["get_current_temperature", {"location": place}] for place in ("Paris", "London")]


def test_it_reads_an_answer_and_its_usage(genai: Findings) -> None:
    told = genai["text"]
    assert told["text"].startswith(f"Hello! {OPENING}") and told["finish"] == "STOP"
    assert told["model"] == FLASH and told["total"] == told["sum"]


def test_it_streams_thoughts_text_and_a_signed_tail(genai: Findings) -> None:
    told = genai["stream"]
    assert told["chunks"] > 2 and told["text"].startswith(f"Hello! {OPENING}") and told["thought"]
    assert told["signed"][-1] and told["signed"].count(True) == 1
    assert told["finish"] == "STOP" and told["ids"] == 1


@pytest.mark.parametrize("step", ["sequential", "streamed_sequential"])
def test_it_plays_the_sequential_example_with_signatures(genai: Findings, step: str) -> None:
    assert genai[step] == {"calls": FLIGHT_CALLS, "signed": [[True], [True]], "text": FLIGHT_TEXT}


@pytest.mark.parametrize("step", ["parallel", "streamed_parallel"])
def test_it_plays_the_parallel_example_with_signatures(genai: Findings, step: str) -> None:
    assert genai[step] == {"calls": PLACES, "signed": [[True, False]], "text": WEATHER_TEXT}


def test_only_true_signatures_and_the_documented_dummy_are_taken(genai: Findings) -> None:
    told = genai["signatures"]
    assert told["true"] == told["dummy"] == {"raised": ""}
    assert told["altered"]["code"] == 400 and "Corrupted thought signature" in told["altered"]["message"]
    assert told["missing"]["code"] == 400 and "missing a thought_signature" in told["missing"]["message"]


def test_it_keeps_caches_and_hits_them(genai: Findings) -> None:
    told = genai["caches"]
    assert told["made"] == told["hit"] > 1024 and told["longer"] and told["listed"]
    assert told["gone"]["code"] == 403
    assert told["small"]["code"] == 400 and "too small" in told["small"]["message"]


def test_it_uploads_files_and_refers_to_them(genai: Findings) -> None:
    told = genai["files"]
    assert (told["size"], told["state"], told["display"]) == (5, "ACTIVE", "notes")
    assert told["listed"] and told["answered"] and told["gone"]["code"] == 403


def test_it_counts_tokens(genai: Findings) -> None:
    assert genai["count"] == {"tokens": 2}


def test_it_gets_what_a_schema_asks_for(genai: Findings) -> None:
    told = genai["structured"]
    assert isinstance(told["city"], str) and isinstance(told["people"], int)


def test_it_sees_thoughts_when_it_asks_for_them(genai: Findings) -> None:
    told = genai["thinking"]
    assert [told[name]["shown"] for name in ("shown", "hidden", "low")] == [True, False, False]
    assert all(each["tokens"] for each in told.values())


def test_it_understands_the_errors(genai: Findings) -> None:
    told = genai["errors_of_requests"]
    assert told["bad key"]["code"] == 400 and "API key not valid" in told["bad key"]["message"]
    assert told["lost model"]["code"] == 404 and "gemini-none" in told["lost model"]["message"]
    assert told["overloaded"]["code"] == 503 and "high demand" in told["overloaded"]["message"]


def test_it_lists_and_reads_models(genai: Findings) -> None:
    told = genai["models"]
    assert told["name"] == f"models/{FLASH}" and told["name"] in told["listed"]
    assert told["input"] == 1_048_576 and "generateContent" in told["actions"]
