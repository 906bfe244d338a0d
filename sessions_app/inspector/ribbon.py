"""The ribbon: four layers on one bar, width = tokens, solid = cached, hatched = not."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sessions_app.inspector.figures import thousands
from sessions_app.prompt.layers import Layer

THINNEST = 3.0
"""Percent of the bar; a layer of a few tokens would vanish beside a long history."""


@dataclass(frozen=True, slots=True)
class Band:
    """One layer on the bar. `x`, `width` and `cached` are percent of the bar's width."""

    layer: str
    tokens: int
    x: float
    width: float
    cached: float

    @property
    def hatched(self) -> float:
        return round(self.width - self.cached, 3)

    @property
    def hatched_x(self) -> float:
        return round(self.x + self.cached, 3)

    @property
    def words(self) -> str:
        part = f", {100 * self.cached / self.width:.0f} % cached" if self.cached else ""
        return f"{self.layer} {thousands(self.tokens)}{part}"


@dataclass(frozen=True, slots=True)
class Ribbon:
    bands: tuple[Band, ...]

    @property
    def words(self) -> str:
        """The same in words, for those who do not see the bar."""
        return (
            "Tokens (estimated): " + "; ".join(band.words for band in self.bands)
            if self.bands
            else "Nothing sent"
        )


def draw(tokens: Mapping[str, int], *, prompt: int | None, cached: int | None, is_named: bool) -> Ribbon:
    """The ribbon of one exchange.

    `tokens` are our estimates per layer, `prompt` and `cached` the provider's totals. A cache that
    the request names holds the static layer; any other hit covers a prefix of the whole prompt.
    """
    present = [(layer.value, tokens.get(layer.value, 0)) for layer in Layer if tokens.get(layer.value, 0)]
    total = sum(count for _, count in present)
    left = _cached_estimate(tokens, total, prompt, cached, is_named)
    bands, x = [], 0.0
    for (layer, count), width in zip(present, _widths([count for _, count in present]), strict=True):
        covered = min(left, count)
        left -= covered
        bands.append(Band(layer, count, round(x, 3), round(width, 3), round(width * covered / count, 3)))
        x += width
    return Ribbon(tuple(bands))


def _cached_estimate(
    tokens: Mapping[str, int], total: int, prompt: int | None, cached: int | None, is_named: bool
) -> float:
    """How many of our estimated tokens the provider's cached count covers."""
    if not cached or not prompt:
        return 0
    return tokens.get(Layer.STATIC.value, 0) if is_named else total * min(1.0, cached / prompt)


def _widths(counts: Iterable[int]) -> list[float]:
    """Percent per count, none thinner than `THINNEST`, together 100."""
    counts = list(counts)
    total = sum(counts) or 1
    wide = [max(THINNEST, 100 * count / total) for count in counts]
    return [100 * width / sum(wide) for width in wide]
