"""What every benchmark is made of: its place on the command line, its aims, its arithmetic."""

from argparse import ArgumentParser
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, inf
from pathlib import Path
from typing import Any

import orjson

from sessions_app.errors import PipewebError

Say = Callable[[str], None]
"""Prints one line."""


@dataclass(frozen=True, slots=True)
class Aim:
    """A wanted figure: at most `limit`, or at least `limit` when `is_floor`. `value` None: not measured."""

    name: str
    limit: float
    value: float | None
    is_floor: bool = False

    @property
    def is_missed(self) -> bool:
        """What was not measured is neither met nor missed."""
        if self.value is None:
            return False
        return not (self.value >= self.limit if self.is_floor else self.value <= self.limit)

    @property
    def verdict(self) -> str:
        if self.value is None:
            return "not measured"
        return "NOT MET" if self.is_missed else "met"

    @property
    def line(self) -> str:
        sign = "≥" if self.is_floor else "≤"
        value = "–" if self.value is None else f"{self.value:.{self._digits}f}"
        return f"  {self.verdict:<12}  {self.name}: {value} (aim {sign} {self.limit:g})"

    @property
    def _digits(self) -> int:
        """One more than the aim has, so that what misses it a little does not look like it."""
        return len(f"{self.limit:g}".partition(".")[2]) + 1


@dataclass(frozen=True, slots=True)
class Bench:
    """One benchmark. `run` takes the parsed options, prints what it measured and returns its aims.

    `run` raises PipewebError when the measurement cannot be made.
    """

    name: str
    summary: str
    add_arguments: Callable[[ArgumentParser], None]
    run: Callable[[Mapping[str, Any], Say], Sequence[Aim]]


def percentile(values: Sequence[float], percent: float) -> float:
    """The smallest of `values` that `percent` of them do not exceed (nearest rank); inf of nothing.

    No answer at all must never look like a fast one.
    """
    return sorted(values)[max(ceil(len(values) * percent / 100), 1) - 1] if values else inf


def ratio(value: float, base: float) -> float:
    """`value` in units of `base`; inf where there is no base."""
    return value / base if base else inf


def positive(kind: Callable[[str], Any]) -> Callable[[str], Any]:
    """The argparse type of a number above 0."""

    def parse(text: str) -> Any:
        value = kind(text)
        if not 0 < value < inf:
            raise ValueError(text)
        return value

    parse.__name__ = "number"
    return parse


def listed(kind: Callable[[str], Any]) -> Callable[[str], tuple[Any, ...]]:
    """The argparse type of such numbers, comma-separated."""

    def parse(text: str) -> tuple[Any, ...]:
        return tuple(map(positive(kind), text.split(",")))

    parse.__name__ = "list"
    return parse


def add_json_argument(parser: ArgumentParser) -> None:
    parser.add_argument("--json", metavar="FILE", help="write the figures there too")


def json_path(given: Mapping[str, Any]) -> Path | None:
    """The file of `--json`. Raises PipewebError where its folder is missing: before anything is measured."""
    path = Path(given["json"]) if given.get("json") else None
    if path and not path.parent.is_dir():
        raise PipewebError(f"There is no folder for {path}.")
    return path


def write_json(path: Path | None, content: Any) -> None:
    if path:
        path.write_bytes(orjson.dumps(content, option=orjson.OPT_INDENT_2))
