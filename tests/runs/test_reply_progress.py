"""When a reply began and how long the model thought, from chunks and their times."""

import pytest

from sessions_app.runs.reply_progress import ReplyProgress, thinking_words
from tests.factories import call_chunk, chunk, text_chunk

THOUGHT, TEXT, CALL = text_chunk("Hm.", thought=True), text_chunk("Yes."), call_chunk("check_flight", {})
NOTHING = chunk({"text": ""}, signature=b"\x12\xff")


def progress_of(*bodies: bytes) -> ReplyProgress:
    """One chunk a second."""
    progress = ReplyProgress("gemini")
    for second, body in enumerate(bodies, start=1):
        progress.take(second * 1000.0, body)
    return progress


@pytest.mark.parametrize(
    ("bodies", "ms"),
    [
        ((TEXT,), None),
        ((THOUGHT, TEXT), 2000),
        ((THOUGHT, THOUGHT, CALL), 3000),
        ((THOUGHT, TEXT, THOUGHT, TEXT), 2000),
        ((TEXT, THOUGHT, TEXT), None),
        ((THOUGHT, THOUGHT), 2000),
        ((THOUGHT, NOTHING, TEXT), 3000),
        ((), None),
    ],
)
def test_thinking_lasts_until_the_answer_begins(bodies: tuple[bytes, ...], ms: float | None) -> None:
    assert progress_of(*bodies).thought_ms == ms


def test_a_reply_begins_with_its_first_chunk() -> None:
    assert progress_of(THOUGHT, TEXT).first_ms == 1000
    assert not progress_of().has_begun


@pytest.mark.parametrize(
    ("ms", "words"),
    [
        (0, "Thought for less than a second"),
        (499, "Thought for less than a second"),
        (4200, "Thought for 4 s"),
        (59_400, "Thought for 59 s"),
        (72_000, "Thought for 1 min 12 s"),
    ],
)
def test_thinking_time_as_text(ms: float, words: str) -> None:
    assert thinking_words(ms) == words
