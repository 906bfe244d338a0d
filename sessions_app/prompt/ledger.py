"""The ledger: which items of a request stand where they stood in the request before, and what that is worth.

All of it is an estimate of ours, from items and their bytes; what the provider really reused is in
its usage and is set beside these sums, never mixed with them. The rule is Context Pilot's (B3): an
item is a hit while every item up to it is the one that was sent before. Items are compared by what
they are, never by where they stand on the wire: an item that a named cache stands for is the same item.
"""

from collections.abc import Hashable, Sequence
from dataclasses import asdict, dataclass
from decimal import Decimal
from itertools import takewhile
from typing import Any, Self

from sessions_app.prompt.pricing import MILLION, SMALLEST, Rates


@dataclass(frozen=True, slots=True)
class Entry:
    """One item of a manifest. `identity` is equal for the same source with the same bytes, and only then.

    `is_named`: the request names a cache instead of carrying the item.
    """

    layer: str
    source: str
    identity: Hashable
    tokens: int
    is_named: bool = False


@dataclass(frozen=True, slots=True)
class Line:
    """What the ledger says of one item: `usd` is its estimated cost, None when the price is unknown."""

    entry: Entry
    is_hit: bool
    usd: Decimal | None


@dataclass(frozen=True, slots=True)
class Ledger:
    """The sums of one exchange, in estimated tokens. `prefix` counts the leading items that are the same."""

    prefix: int
    items: int
    hits: int
    hit_tokens: int
    miss_tokens: int

    @property
    def tokens(self) -> int:
        return self.hit_tokens + self.miss_tokens

    def stored(self) -> dict[str, int]:
        return asdict(self)

    @classmethod
    def restored(cls, stored: dict[str, Any]) -> Self | None:
        return cls(**stored) if stored else None


def prefix_of(before: Sequence[Hashable], now: Sequence[Hashable]) -> int:
    """How many leading identities are equal."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(before, now, strict=False)))


def enter(before: Sequence[Hashable], now: Sequence[Entry]) -> Ledger:
    """The sums for a request after the one whose identities are `before`; the first request misses whole."""
    prefix = prefix_of(before, [entry.identity for entry in now])
    hits = [entry.tokens for position, entry in enumerate(now) if is_hit(entry, position, prefix)]
    total = sum(entry.tokens for entry in now)
    return Ledger(prefix, len(now), len(hits), sum(hits), total - sum(hits))


def is_hit(entry: Entry, position: int, prefix: int) -> bool:
    """A named cache hits whatever was sent before: another session may have made it."""
    return entry.is_named or position < prefix


def lines_of(now: Sequence[Entry], prefix: int, rates: Rates | None) -> tuple[Line, ...]:
    """The ledger item by item, at the rates of the model that answers."""
    hits = [is_hit(entry, position, prefix) for position, entry in enumerate(now)]
    return tuple(
        Line(entry, hit, worth(entry.tokens, hit, rates)) for entry, hit in zip(now, hits, strict=True)
    )


def worth(tokens: int, hit: bool, rates: Rates | None) -> Decimal | None:
    """What these tokens cost as input."""
    if rates is None:
        return None
    return (tokens * (rates.cached if hit else rates.input) / MILLION).quantize(SMALLEST)
