"""Functions that the SDKs call by themselves."""

import pytest

from tests.clients.running import Findings

pytestmark = pytest.mark.slow

EXPECTED = {"google-genai": "ClientError", "google-genai 1": "", "@google/genai": "ApiError"}
"""The error class of each client."""

REFUSAL = "function response turn comes immediately after a function call turn"
"""Of Google's words, as users report them (googleapis/go-genai#692)."""


def test_parallel_calls_are_answered_together(genai: Findings) -> None:
    told = genai["automatic_parallel"]
    assert told["calls"] == ["get_current_temperature"] * 2 and told["signed"] == [[True, False]]
    assert told["text"].startswith("Here is the weather:") and "15C" in told["text"]


def test_streamed_parallel_calls_are_refused_or_end_empty(genai: Findings) -> None:
    """A known limit of the SDKs: they put the chunk that ends a turn between its calls and the responses.

    The release 1 of google-genai sends no second request.
    """
    told = genai["automatic_stream"]
    assert told["text"] == ""
    assert told["raised"] == EXPECTED[genai.client.name]
    assert told.get("code", 400) == 400
    assert not told["raised"] or REFUSAL in told["message"]
