"""The number of a turn: its place on its branch, from 1 on. The chat and every page name a turn by it."""

from collections.abc import Iterable, Mapping
from typing import Any

from sessions_app.models.run import Run
from sessions_app.models.turn import BATCH, Turn
from sessions_app.values import uuid_or_none

FIGURES = ("turn", "following")
"""Figures of errors that name turns."""

SOURCE = "turn:"
"""The name of a turn as a source begins so; its public id follows."""


def key_of(source: str) -> str:
    """The public id of the turn that a source is; empty for another source, and for one without a row."""
    key = source.removeprefix(SOURCE) if source.startswith(SOURCE) else ""
    return key if uuid_or_none(key) else ""


def turn_numbers(session_pk: int, sources: Iterable[str]) -> dict[str, int]:
    """Source name → number, for the turns among these: one query for each `BATCH` of them.

    A turn that only a repair inserted is no row and has none.
    """
    keys = [source.removeprefix(SOURCE) for source in sources if source.startswith(SOURCE)]
    return {f"{SOURCE}{key}": number for key, number in numbers_of_keys(session_pk, keys).items()}


def numbers_of_keys(session_pk: int, keys: Iterable[str]) -> dict[str, int]:
    """Public id → number."""
    wanted = [key for key in dict.fromkeys(keys) if uuid_or_none(key)]
    found: dict[str, int] = {}
    for start in range(0, len(wanted), BATCH):
        rows = Turn.objects.filter(session=session_pk, public__in=wanted[start : start + BATCH])
        found |= {str(public): depth + 1 for public, depth in rows.values_list("public", "depth")}
    return found


def numbered_figures(session_pk: int, figures: Mapping[str, Any]) -> dict[str, Any]:
    """Figures of an error that an earlier version stored with keys of turns, and with parts from 0."""
    keys = {name: key for name in FIGURES if isinstance(key := figures.get(name), str) and uuid_or_none(key)}
    if not keys:
        return dict(figures)
    numbers = numbers_of_keys(session_pk, keys.values())
    found = {**figures, **{name: numbers.get(key, key) for name, key in keys.items()}}
    return found | ({"part": figures["part"] + 1} if figures.get("part") is not None else {})


def numbered_error(run: Run) -> dict[str, Any]:
    """The error of a run, as `numbered_figures` gives its figures."""
    error: dict[str, Any] = run.error
    figures = error.get("figures")
    return (
        error | {"figures": numbered_figures(run.session_id, figures)} if isinstance(figures, dict) else error
    )
