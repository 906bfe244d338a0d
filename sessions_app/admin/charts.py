"""Bars of one figure over time, as they stand in an inline drawing and in the table beside it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

SLOT, BAR, HEIGHT = 16, 11, 90
"""Width of a place and of its bar, and the height of the largest one, in units of the drawing."""

SMALLEST = 1.5
"""Height of a bar that is not nothing."""


@dataclass(frozen=True, slots=True)
class Bar:
    """Numbers as they stand in the drawing."""

    label: str
    told: str
    x: int
    y: str
    height: str


@dataclass(frozen=True, slots=True)
class BarChart:
    title: str
    bars: tuple[Bar, ...]
    top: str
    """The largest figure, in words; empty where all are nothing."""

    @classmethod
    def of(cls, title: str, labels: Sequence[str], values: Sequence[float], told: Sequence[str]) -> Self:
        """Figures below nothing have no bar; they stand in the table."""
        largest = max((*values, 0))
        bars = []
        for place, (label, value, words) in enumerate(zip(labels, values, told, strict=True)):
            height = max(SMALLEST, HEIGHT * value / largest) if value > 0 else 0.0
            bars.append(Bar(label, words, place * SLOT, f"{HEIGHT - height:.1f}", f"{height:.1f}"))
        return cls(title, tuple(bars), told[list(values).index(largest)] if largest > 0 else "")

    @property
    def width(self) -> int:
        return SLOT * len(self.bars)

    @property
    def height(self) -> int:
        return HEIGHT

    @property
    def bar(self) -> int:
        return BAR
