"""The picture of one request: four layers side by side, width = tokens, full height = cached."""

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from sessions_app.models import Exchange
from sessions_app.prompt.layers import Layer

WIDTH = 1000
"""Units of the drawing, whatever its size on the page."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A rectangle of the ribbon; x and width in units of WIDTH."""

    layer: str
    x: float
    width: float
    is_cached: bool


@dataclass(frozen=True)
class Ribbon:
    """The layers of one exchange. Tokens per layer are estimates; `cached` is the provider's count."""

    tokens: dict[str, int]
    prompt: int
    cached: int

    @classmethod
    def of(cls, exchange: Exchange) -> "Ribbon":
        tokens = {layer.value: int(exchange.layer_tokens.get(layer.value, 0)) for layer in Layer}
        return cls(tokens, exchange.prompt_tokens or sum(tokens.values()), exchange.cached_tokens or 0)

    @cached_property
    def pieces(self) -> tuple[Piece, ...]:
        """The cache always holds a prefix of the request, so one border cuts the whole ribbon."""
        total = sum(self.tokens.values())
        if not total:
            return ()
        border = WIDTH * min(1.0, self.cached / max(self.prompt, 1))
        pieces, start = [], 0.0
        for layer, tokens in self.tokens.items():
            end = start + WIDTH * tokens / total
            pieces += _cut(layer, start, end, border)
            start = end
        return tuple(pieces)

    @property
    def words(self) -> str:
        """The same as text, for those who do not see the picture."""
        layers = ", ".join(f"{layer} {tokens:,}" for layer, tokens in self.tokens.items())
        return f"Tokens per layer: {layers}; {self.cached:,} of {self.prompt:,} came from a cache"


def _cut(layer: str, start: float, end: float, border: float) -> list[Piece]:
    edges = [start, border, end] if start < border < end else [start, end]
    return [
        Piece(layer, round(left, 1), round(right - left, 1), is_cached=right <= border)
        for left, right in pairwise(edges)
        if right > left
    ]
