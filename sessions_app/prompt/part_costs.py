"""What each part of the prompts has cost over many requests: the per-panel costs of seed 4, for every layer.

As on the bill of one request (`billing`) the shares are estimates; their sum is what was paid for prompts.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from sessions_app.prompt.billing import PromptCount, share_out
from sessions_app.prompt.prefix_diff import LedgerItem
from sessions_app.prompt.pricing import MILLION, Money, MoneySource, TermKind

GROUPED = ("turn", "chunk")
"""Kinds of sources of which there are many: each kind is one part."""


@dataclass(frozen=True, slots=True)
class CountedRequest:
    """The items of a request and the provider's count of it; `money` is None when the price is unknown."""

    items: Sequence[LedgerItem]
    count: PromptCount
    money: Money | None


@dataclass(slots=True)
class PartSum:
    """A sum of shares: `cut_off` and `estimates` of them are of money that is so (`Money`). What searches
    cost is in no share, nor is what is not known of it.
    """

    usd: Decimal = Decimal(0)
    cut_off: int = 0
    estimates: int = 0

    def add(self, usd: Decimal, money: Money) -> None:
        self.usd += usd
        self.cut_off += money.is_cut_off
        self.estimates += money.is_estimate


@dataclass(slots=True)
class PartCost:
    """Sums of one part: `requests` that had it, its tokens, what was paid for it and what the emulator's
    answers would have cost. `unpriced` are requests of unknown price.
    """

    layer: str
    source: str
    requests: int = 0
    cached: int = 0
    new: int = 0
    paid: PartSum = field(default_factory=PartSum)
    emulated: PartSum = field(default_factory=PartSum)
    unpriced: int = 0

    def add(self, cached: int, new: int, money: Money | None) -> None:
        """The share of one request."""
        self.requests += 1
        self.cached += cached
        self.new += new
        if money is None:
            self.unpriced += 1
            return
        rates = {term.name: term.rate for term in money.terms}
        zero = Decimal(0)
        usd = (cached * rates.get(TermKind.CACHED, zero) + new * rates.get(TermKind.NEW, zero)) / MILLION
        own = self.emulated if money.source is MoneySource.EMULATOR else self.paid
        own.add(usd, money)


def part_costs(requests: Iterable[CountedRequest]) -> list[PartCost]:
    """The dearest first, those that cost alike in the order of their layers' first appearance."""
    parts: dict[tuple[str, str], PartCost] = {}
    for request in requests:
        for key, (cached, new) in _shares(request).items():
            parts.setdefault(key, PartCost(*key)).add(cached, new, request.money)
    return sorted(parts.values(), key=lambda part: -(part.paid.usd + part.emulated.usd))


def _shares(request: CountedRequest) -> dict[tuple[str, str], tuple[int, int]]:
    """The cached and the new tokens of each part of one request."""
    found: dict[tuple[str, str], tuple[int, int]] = {}
    for item, (cached, new) in zip(request.items, share_out(request.items, request.count), strict=True):
        kind = item.source.partition(":")[0]
        key = item.layer, kind if kind in GROUPED else item.source
        before = found.get(key, (0, 0))
        found[key] = before[0] + cached, before[1] + new
    return found
