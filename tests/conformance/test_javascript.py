"""The JavaScript clients of Gemini and of OpenAI against the emulator that stands alone."""

import shutil
import subprocess
from pathlib import Path

import orjson
import pytest

from tests.emulator.helpers import Wire

HERE = Path(__file__).parent
pytestmark = pytest.mark.slow


def run(script: str, folder: Path, base: str, environment: dict[str, str]) -> Wire:
    """What the script prints. It is copied beside the packages, where Node looks for them."""
    shutil.copy(HERE / script, folder)
    command = ("node", str(folder / script), base)
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, env=environment)
    assert not done.returncode, done.stderr
    told: Wire = orjson.loads(done.stdout)
    return told


@pytest.fixture(scope="module")
def gemini(node_modules: Path, base: str, quiet: dict[str, str]) -> Wire:
    return run("gemini.mjs", node_modules, base, quiet)


@pytest.fixture(scope="module")
def openai(node_modules: Path, base: str, quiet: dict[str, str]) -> Wire:
    return run("openai.mjs", node_modules, base, quiet)


def test_the_sdk_streams_thoughts_text_and_a_signed_tail(gemini: Wire) -> None:
    told = gemini["streamed"]
    assert told.pop("text").startswith("You said `hello`")
    assert told == {"thought": True, "signed": True, "finish": "STOP", "ids": 1}


def test_the_sdk_plays_the_sequential_example(gemini: Wire) -> None:
    told = gemini["flight"]
    assert told["calls"] == [["check_flight", {"flight": "AA100"}], ["book_taxi", {"time": "10 AM"}]]
    assert told["signed"] and "10 AM" in told["text"]
    assert told["refused"].startswith("400") and "missing a thought_signature" in told["refused"]


def test_the_sdk_plays_the_parallel_example(gemini: Wire) -> None:
    assert gemini["weather"]["signed"] == [True, False]
    assert "**London**: 12C" in gemini["weather"]["text"]


def test_the_sdk_uses_caches_files_and_the_counter(gemini: Wire) -> None:
    assert gemini["cached"]["hit"] and gemini["cached"]["gone"].startswith("403")
    assert gemini["uploaded"] == {"size": "5", "state": "ACTIVE", "name": "notes"}
    assert gemini["counted"] == 2


def test_the_sdk_understands_the_errors(gemini: Wire) -> None:
    assert gemini["overloaded"].startswith("503") and "high demand" in gemini["overloaded"]
    assert gemini["lost"].startswith("404") and "gemini-none" in gemini["lost"]


def test_the_openai_client_plays_the_sequential_example(openai: Wire) -> None:
    told = openai["flight"]
    assert told["calls"] == [["check_flight", '{"flight":"AA100"}'], ["book_taxi", '{"time":"10 AM"}']]
    assert told["signed"] and "10 AM" in told["text"]
    assert told["refused"].startswith("400")


def test_the_openai_client_plays_the_parallel_example(openai: Wire) -> None:
    assert openai["weather"]["signed"] == [True, False]
    assert "**Paris**: 15C" in openai["weather"]["text"]


def test_the_openai_client_streams_and_understands_errors(openai: Wire) -> None:
    told = openai["streamed"]
    assert told["text"].startswith("You said `hello`") and told["finish"] == "stop" and told["signed"]
    assert told["total"] > 0 and openai["overloaded"].startswith("503") and openai["models"] > 10
