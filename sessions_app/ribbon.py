"""The ribbon: a bar of the four layers of a request. Width is tokens; solid is cached, hatched is not."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from sessions_app.prompt.layers import Layer
from sessions_app.prompt.tokens import cached_percent

if TYPE_CHECKING:
    from sessions_app.models import Exchange

MIN_WIDTH = 3.0
"""Percent of the bar, so that small layers stay visible."""

BAR = '<rect fill="{}" x="{}%" width="{}%" height="100%"/>'

GAP = 0.4
"""Percent of the bar between two layers."""


@dataclass(frozen=True, slots=True)
class Band:
    """A layer on the bar, `cached` of whose `tokens` are. `x` and `width` are percent of the bar's width."""

    layer: str
    tokens: int
    cached: int
    x: float
    width: float

    @property
    def description(self) -> str:
        part = f", {cached_percent(self.cached, self.tokens)} % cached" if self.cached else ""
        return f"{self.layer} {self.tokens:,}{part}"


@dataclass(frozen=True, slots=True)
class Ribbon:
    """`prompt` and `cached` are the provider's counts; None while it has reported none."""

    bands: tuple[Band, ...]
    prompt: int | None = None
    cached: int | None = None

    @property
    def bars(self) -> list[tuple[str, float, float]]:
        """SVG rectangles as (fill, x, width) in percent; patterns are in `ribbon_patterns.html`."""
        return [bar for _, bars in self.segments for bar in bars]

    @property
    def drawn(self) -> SafeString:
        """`bars` as SVG."""
        return format_html_join("", BAR, self.bars)

    @property
    def segments(self) -> list[tuple[Band, list[tuple[str, float, float]]]]:
        """Each layer with its rectangles."""
        return [(band, self._bars_of(band)) for band in self.bands]

    def _bars_of(self, band: Band) -> list[tuple[str, float, float]]:
        end = band.x + band.width - (GAP if band is not self.bands[-1] else 0)
        border = min(band.x + band.width * band.cached / band.tokens, end)
        solid = (f"var(--layer-{band.layer})", band.x, border)
        hatched = (f"url(#hatch-{band.layer})", border, end)
        return [
            (fill, round(left, 3), round(right - left, 3))
            for fill, left, right in (solid, hatched)
            if right - left > 0.001
        ]

    @property
    def cached_label(self) -> str:
        """The cached tokens that the provider counted."""
        if self.prompt is None:
            return "the provider has counted nothing"
        return f"{self.cached or 0:,} of {self.prompt:,} came from a cache"

    @property
    def description(self) -> str:
        """The accessible label of the bar."""
        if not self.bands:
            return "Nothing was sent"
        return "Tokens per layer, estimated: " + "; ".join(
            [*(band.description for band in self.bands), self.cached_label]
        )


def ribbon_of(exchange: "Exchange") -> Ribbon:
    """The ribbon of an exchange; needs no deferred column."""
    return make_ribbon(
        exchange.layer_tokens,
        prompt=exchange.prompt_tokens,
        cached=exchange.cached_tokens,
        is_named=bool(exchange.cache_name),
    )


def make_ribbon(
    tokens: Mapping[str, int], *, prompt: int | None, cached: int | None, is_named: bool
) -> Ribbon:
    """`tokens` are our estimates per layer, `prompt` and `cached` the provider's totals.

    A cache that the request names holds the static layer; an implicit hit covers a prefix.
    """
    present = [(layer.value, tokens.get(layer.value, 0)) for layer in Layer if tokens.get(layer.value, 0)]
    left = _covered(tokens, sum(count for _, count in present), prompt, cached, is_named)
    bands, x = [], 0.0
    for (layer, count), width in zip(present, _widths([count for _, count in present]), strict=True):
        covered = min(left, count)
        left -= covered
        bands.append(Band(layer, count, covered, round(x, 3), round(width, 3)))
        x += width
    return Ribbon(tuple(bands), prompt, cached)


def _covered(
    tokens: Mapping[str, int], total: int, prompt: int | None, cached: int | None, is_named: bool
) -> int:
    """How many of our estimated tokens the provider's cached count covers, rounded down."""
    if not cached or not prompt:
        return 0
    return tokens.get(Layer.STATIC.value, 0) if is_named else total * min(cached, prompt) // prompt


def _widths(counts: Iterable[int]) -> list[float]:
    """Percent per count, none thinner than `MIN_WIDTH`, together 100."""
    counts = list(counts)
    total = sum(counts) or 1
    wide = [max(MIN_WIDTH, 100 * count / total) for count in counts]
    return [100 * width / sum(wide) for width in wide]
