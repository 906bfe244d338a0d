"""Errors about a turn: the core knows turns by their keys, a person by their numbers."""

from collections.abc import Iterable
from typing import Any

from sessions_app.errors import PromptError
from sessions_app.models.turn_numbers import FIGURES, numbers_of_keys


def with_turn_numbers(session_pk: int, error: PromptError) -> PromptError:
    """The error with numbers of turns, and parts from 1. A turn that a repair inserted keeps its key."""
    keys = {name: error.figures[name] for name in FIGURES if name in error.figures}
    numbers = numbers_of_keys(session_pk, keys.values())
    figures: dict[str, Any] = {name: numbers.get(key, key) for name, key in keys.items()}
    return PromptError(error.reason, **error.figures | figures | dict(_parts(error)))


def _parts(error: PromptError) -> Iterable[tuple[str, int]]:
    if "part" in error.figures:
        yield "part", error.figures["part"] + 1
