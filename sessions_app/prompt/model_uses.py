"""How dear a model is beside the others that are offered: a code, from their rates alone."""

from collections.abc import Iterable
from decimal import Decimal
from enum import StrEnum

from sessions_app.prompt.pricing import Rates


class PriceClass(StrEnum):
    """Each has its words in `wording.models`."""

    LOWEST = "lowest"
    LOW = "low"
    MIDDLE = "middle"
    HIGH = "high"
    HIGHEST = "highest"
    UNKNOWN = "unknown"


def price_class(rates: Rates | None, offered: Iterable[Rates]) -> PriceClass:
    """Its third among the distinct prices of those `offered`; a single price is neither low nor high."""
    if rates is None:
        return PriceClass.UNKNOWN
    costs = sorted({_cost(one) for one in offered} | {_cost(rates)})
    last = len(costs) - 1
    if not last:
        return PriceClass.MIDDLE
    rank = costs.index(_cost(rates))
    ends = {0: PriceClass.LOWEST, last: PriceClass.HIGHEST}
    thirds = (PriceClass.LOW, PriceClass.MIDDLE, PriceClass.HIGH)
    return ends.get(rank) or thirds[min(2, 3 * rank // last)]


def _cost(rates: Rates) -> Decimal:
    return rates.input + rates.output
