"""curl against the emulator that stands alone."""

import shutil
import subprocess
from collections.abc import Callable
from typing import Any

import orjson
import pytest

from tests.emulator.helpers import FLASH, declare, events, parts, text_of, user

Curl = Callable[..., bytes]
STREAM = f"v1beta/models/{FLASH}:streamGenerateContent"
UNARY = f"v1beta/models/{FLASH}:generateContent"
HELLO = {"contents": [user("hello")]}
pytestmark = [pytest.mark.slow, pytest.mark.skipif(not shutil.which("curl"), reason="NOTICE: no curl")]


@pytest.fixture
def curl(base: str, quiet: dict[str, str]) -> Curl:
    """The output of one curl call; a body makes it a POST."""

    def call(path: str, body: Any = None, *options: str) -> bytes:
        sent = ("--data-binary", orjson.dumps(body).decode()) if body is not None else ()
        command = ("curl", "-sS", "-N", "-m", "20", *sent, *options, f"{base}/{path}")
        return subprocess.run(command, capture_output=True, check=False, env=quiet).stdout

    return call


def test_it_streams_events_with_the_key_in_the_query(curl: Curl) -> None:
    body = curl(f"{STREAM}?alt=sse&key=emulator", HELLO)
    assert "I am an emulator" in text_of(list(events(body)))
    assert body.endswith(b"\r\n\r\n") and b"\n\n" not in body


def test_it_streams_an_array_with_the_key_in_the_header(curl: Curl) -> None:
    chunks = orjson.loads(curl(STREAM, HELLO, "-H", "x-goog-api-key: emulator"))
    assert "I am an emulator" in text_of(chunks)


def test_it_calls_functions(curl: Curl) -> None:
    body = {
        "contents": [user("weather in Paris and London")],
        "tools": declare(get_current_temperature=["location"]),
    }
    found = parts(orjson.loads(curl(f"{UNARY}?key=emulator", body)))
    assert ["thoughtSignature" in part for part in found] == [True, False]


def test_it_reads_the_recorded_error(curl: Curl) -> None:
    error = orjson.loads(curl(f"{UNARY}?key=emulator", {"contents": []}))["error"]
    assert error["message"] == "* GenerateContentRequest.contents: contents is not specified\n"


def test_it_speaks_to_the_openai_endpoint(curl: Curl) -> None:
    body = {"model": FLASH, "messages": [{"role": "user", "content": "hello"}], "stream": True}
    told = curl("v1beta/openai/chat/completions", body, "-H", "Authorization: Bearer emulator")
    assert told.startswith(b'data: {"choices"') and told.endswith(b"data: [DONE]\n\n")


def test_it_looks_at_the_page(curl: Curl) -> None:
    curl(f"{UNARY}?key=emulator", HELLO)
    assert b"<h1>Gemini emulator</h1>" in curl("_emulator")
    assert orjson.loads(curl("_emulator.json"))["requests"]


@pytest.mark.parametrize(("word", "code"), [("/drop", 56), ("/close", 18), ("/hangup", 52)])
def test_a_broken_connection_is_one(base: str, quiet: dict[str, str], word: str, code: int) -> None:
    """curl's exit codes: 52 nothing came, 18 less came than promised, 56 the reading failed."""
    sent = orjson.dumps({"contents": [user(word)]}).decode()
    command = ("curl", "-sS", "-m", "20", "--data-binary", sent, f"{base}/{STREAM}?alt=sse&key=emulator")
    assert subprocess.run(command, capture_output=True, check=False, env=quiet).returncode == code
