"""How an imported answer ended is kept where the file says it."""

from pathlib import Path
from typing import Any

import pytest

from tests.chat.import_formats.histories import checked

USER = {"role": "user", "parts": [{"text": "Hello"}]}
ASKED = {"role": "user", "content": "Hello"}


def gemini(reason: str | None, **part: Any) -> dict[str, Any]:
    content = {"role": "model", "parts": [part or {"text": "Once upon"}]}
    candidate = {"content": content} | ({"finishReason": reason} if reason else {})
    return {"request": {"contents": [USER]}, "response": {"candidates": [candidate]}}


def openai(reason: str) -> dict[str, Any]:
    choice = {"message": {"role": "assistant", "content": "Once upon"}, "finish_reason": reason}
    return {"request": {"messages": [ASKED]}, "response": {"choices": [choice]}}


def studio(*reasons: Any) -> dict[str, Any]:
    chunks = [{"role": "model", "text": "Once", "finishReason": reason} for reason in reasons]
    return {"chunkedPrompt": {"chunks": [{"role": "user", "text": "Hello"}, *chunks]}}


@pytest.mark.parametrize(
    ("file", "outcome"),
    [
        (gemini("STOP"), "complete"),
        (gemini(None), "complete"),
        (gemini("MAX_TOKENS"), "max_tokens"),
        (gemini("MAX_TOKENS", text="Hm", thought=True), "no_room"),
        (gemini("SAFETY"), "safety"),
        (openai("stop"), "complete"),
        (openai("length"), "max_tokens"),
        (openai("gone"), "complete"),
        (studio("STOP"), "complete"),
        (studio("STOP", "MAX_TOKENS"), "max_tokens"),
        (studio(2), "max_tokens"),
    ],
)
def test_the_outcome_of_a_response_is_that_of_its_run(tmp_path: Path, file: Any, outcome: str) -> None:
    found, _ = checked(file, tmp_path)
    assert [(run.status, run.outcome) for run in (entry.read() for entry in found.runs())] == [
        ("completed", outcome)
    ]
