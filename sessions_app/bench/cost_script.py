"""The conversation that `bench cost` replays: 200 turns over a long brief, a tool call in each third.

Its words are made by a fixed seed, so that every strategy and every run of the bench sees the same bytes.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sessions_app.prompt.layers import StaticSources
from sessions_app.prompt.tokens import estimate

TURNS = 200
TURN_SECONDS = 60
STATIC_TOKENS, TASK_TOKENS, ANSWER_TOKENS = 22_000, 150, 400
CALL_TOKENS, RESULT_TOKENS, VOLATILE_TOKENS = 40, 200, 100
TOOL_EVERY = 3
SEED = 20_261_121

TOOL: dict[str, Any] = {
    "name": "look_up",
    "description": "Finds what is written about a subject.",
    "parameters": {"type": "object", "properties": {"subject": {"type": "string"}}},
}

_SYLLABLES = [
    a + b for a in ("ba", "ke", "li", "mo", "nu", "ra", "se", "ti") for b in ("n", "r", "la", "sto")
]


@dataclass(frozen=True, slots=True)
class Turn:
    """What one turn holds; `subject` and `result` are empty where no tool is called."""

    task: str
    answer: str
    subject: str = ""
    result: str = ""


def conversation(turns: int) -> Iterator[Turn]:
    dice = random.Random(SEED)  # noqa: S311  words, no secrets
    for number in range(1, turns + 1):
        task, answer = words(dice, TASK_TOKENS), words(dice, ANSWER_TOKENS)
        if number % TOOL_EVERY:
            yield Turn(task, answer)
        else:
            yield Turn(task, answer, words(dice, CALL_TOKENS), words(dice, RESULT_TOKENS))


def brief() -> StaticSources:
    dice = random.Random(SEED - 1)  # noqa: S311
    return StaticSources(purpose="Replay.", background=words(dice, STATIC_TOKENS - 1_000), tools=("look_up",))


def volatile(number: int) -> str:
    """What the dynamic layer says before request `number`: never the same twice."""
    return words(random.Random(SEED + number), VOLATILE_TOKENS)  # noqa: S311


def words(dice: random.Random, tokens: int) -> str:
    """A text of this many tokens."""
    found: list[str] = []
    size, wanted = 0, 33 * tokens // 10
    while size < wanted:
        found.append("".join(dice.choices(_SYLLABLES, k=3)))
        size += len(found[-1]) + 1
    text = " ".join(found)[:wanted].rstrip()
    return text + "." * (tokens - estimate(text))
