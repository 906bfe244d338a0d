"""Prices and budgets: the cost of an exchange from the provider's token counts.

`promptTokenCount` includes the cached tokens (gemini-wire §4), so the prompt is split into new and
cached and no token is ever charged twice; thoughts are charged as output, tool-use prompt tokens as
input. Money is in US dollars and exact (Decimal); rates are dollars per million tokens.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from decimal import ROUND_HALF_EVEN, Decimal
from typing import Any, Self

from sessions_app.catalogue import base_of
from sessions_app.prompt.reply import Usage
from sessions_app.prompt.stored import Code, from_json, to_json

MILLION, THOUSAND = Decimal(1_000_000), Decimal(1_000)
SMALLEST = Decimal("0.00000001")
"""Stored sums are rounded to this; it holds one token of the cheapest cached input."""


@dataclass(frozen=True, slots=True)
class Rates:
    """US dollars per million tokens. `storage` is per million tokens and hour; None when unknown."""

    input: Decimal
    cached: Decimal
    output: Decimal
    storage: Decimal | None = None


class TermKind(Code):
    """The kind of tokens of a term."""

    NEW = "new"
    CACHED = "cached"
    TOOL_USE = "tool use"
    OUTPUT = "output"
    THOUGHTS = "thoughts"
    CACHE_MADE = "cache made"
    SEARCH = "search"
    UNKNOWN = "unknown"


class MoneySource(Code):
    """Who counted the tokens, and who pays. Nobody is paid for the emulator's; rows of earlier versions do
    not say. `CLIENT`: the provider counted, and a captured program paid with a key of its own.
    """

    PROVIDER = "provider"
    CLIENT = "client"
    EMULATOR = "emulator"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class PriceTerm:
    """One product of the sum: so many tokens of one kind, or so many searches, at one rate."""

    name: TermKind
    tokens: int
    rate: Decimal

    @property
    def usd(self) -> Decimal:
        return self.tokens * self.rate / (THOUSAND if self.name is TermKind.SEARCH else MILLION)


@dataclass(frozen=True, slots=True)
class Searches:
    """Searches at the provider as they are charged; `rate` is for a thousand, None when unknown."""

    count: int = 0
    rate: Decimal | None = None


NO_SEARCHES = Searches()


@dataclass(frozen=True, slots=True)
class Money:
    """What one exchange cost, as the sum of its terms.

    `at_least`: the answer was not received to its end, so the provider may have counted more.
    `estimated`: the provider reported nothing and the tokens are ours. `other_price`: another service tier
    than the standard one served it, or tokens are no text; it is charged as standard text, whose prices alone
    are known (gemini-wire §8). `unpriced_searches` are in no term, as their price is unknown.
    """

    terms: tuple[PriceTerm, ...]
    at_least: bool = False
    estimated: bool = False
    source: MoneySource = MoneySource.UNKNOWN
    unpriced_searches: int = 0
    other_price: bool = False

    @property
    def is_estimate(self) -> bool:
        """Whether perhaps less was spent, or more."""
        return self.estimated or self.other_price

    @property
    def is_cut_off(self) -> bool:
        """Whether what came of an answer without its end is a bound: our estimate is none."""
        return self.at_least and not self.is_estimate

    @property
    def is_bound(self) -> bool:
        """Whether no less was spent, and perhaps more."""
        return self.is_cut_off or self.unpriced_searches > 0

    @property
    def total(self) -> Decimal:
        return sum((term.usd for term in self.terms), Decimal(0)).quantize(SMALLEST, ROUND_HALF_EVEN)

    def stored(self) -> dict[str, Any]:
        """As JSON, with decimals as strings."""
        rare: dict[str, Any] = {"unpriced_searches": self.unpriced_searches, "other_price": self.other_price}
        return {name: value for name, value in rare.items() if value} | {
            "terms": [
                {"name": term.name, "tokens": term.tokens, "rate": str(term.rate)} for term in self.terms
            ],
            "at_least": self.at_least,
            "estimated": self.estimated,
            "source": self.source.value,
        }

    @classmethod
    def restored(cls, stored: Mapping[str, Any]) -> Self | None:
        """What `stored` wrote; None for an exchange whose price was unknown."""
        if "terms" not in stored:
            return None
        terms = (
            PriceTerm(TermKind(term["name"]), term["tokens"], Decimal(term["rate"]))
            for term in stored["terms"]
        )
        source = MoneySource(stored.get("source", MoneySource.UNKNOWN))
        return cls(
            tuple(terms),
            bool(stored.get("at_least")),
            bool(stored.get("estimated")),
            source,
            stored.get("unpriced_searches", 0),
            bool(stored.get("other_price")),
        )


class BudgetScope(Code):
    """Whose budget it is and for how long."""

    SESSION = "session"
    TODAY = "today"
    THIS_MONTH = "this_month"
    INSTALLATION_TODAY = "installation_today"
    INSTALLATION_MONTH = "installation_month"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Budget:
    """One limit in US dollars. `renewed_on` is the day on which it is reset, None for never.

    `held` is what requests under way have reserved of it: the most that they may cost. `at_least`: something
    that it counts cost more than is known; `estimated`: less, or more.
    """

    scope: BudgetScope
    limit: Decimal
    spent: Decimal
    warn_percent: int
    renewed_on: date | None = None
    held: Decimal = Decimal(0)
    at_least: bool = False
    estimated: bool = False

    @property
    def is_shared(self) -> bool:
        """Whether all people share it: its sums are nobody's business."""
        return self.scope in (BudgetScope.INSTALLATION_TODAY, BudgetScope.INSTALLATION_MONTH)

    @property
    def left(self) -> Decimal:
        return max(Decimal(0), self.limit - self.spent)

    @property
    def percent(self) -> int:
        """Rounded down, so that 100 means all of it."""
        return int(100 * self.spent / self.limit) if self.limit else 100

    @property
    def is_spent(self) -> bool:
        return self.spent >= self.limit

    @property
    def is_held(self) -> bool:
        """Whether requests under way may use up the rest. Whoever spends only where nothing is spent or held
        passes the limit by the cost of the last request alone.
        """
        return not self.is_spent and self.spent + self.held >= self.limit

    @property
    def is_near(self) -> bool:
        return not self.is_spent and self.percent >= self.warn_percent

    def stored(self) -> dict[str, Any]:
        return to_json(self)

    @classmethod
    def restored(cls, stored: Mapping[str, Any]) -> Self | None:
        return from_json(cls, stored)


def cost(usage: Usage, rates: Rates, searches: Searches = NO_SEARCHES) -> Money:
    """The terms of one exchange, without those of zero tokens."""
    cached = min(usage.cached, usage.prompt)
    terms = (
        PriceTerm(TermKind.NEW, usage.prompt - cached, rates.input),
        PriceTerm(TermKind.CACHED, cached, rates.cached),
        PriceTerm(TermKind.TOOL_USE, usage.tool_use, rates.input),
        PriceTerm(TermKind.OUTPUT, usage.output, rates.output),
        PriceTerm(TermKind.THOUGHTS, usage.thoughts, rates.output),
        PriceTerm(TermKind.SEARCH, searches.count, searches.rate or Decimal(0)),
    )
    is_unpriced = searches.rate is None
    kept = tuple(term for term in terms if term.tokens and not (is_unpriced and term.name is TermKind.SEARCH))
    return Money(kept, unpriced_searches=searches.count if is_unpriced else 0)


def most_of(prompt: int, output: int, rates: Rates) -> Decimal:
    """The most that a request costs which reads and writes at most so many tokens."""
    return cost(Usage(prompt=prompt, output=output), rates).total


def creation_cost(tokens: int, rates: Rates) -> Money:
    """The cost of creating an explicit cache: its tokens as new input, since no other price is documented."""
    return Money((PriceTerm(TermKind.CACHE_MADE, tokens, rates.input),))


def storage_cost(tokens: int, hours: float | Decimal, rates: Rates) -> Decimal | None:
    """The cost of storing an explicit cache; None when the price is unknown."""
    if rates.storage is None:
        return None
    return (tokens * Decimal(hours) * rates.storage / MILLION).quantize(SMALLEST, ROUND_HALF_EVEN)


def price_names(model: str) -> tuple[str, ...]:
    """The names under which a price may be listed: without `models/`, then also without a revision."""
    name = model.rpartition("/")[2]
    base = base_of(name)
    return (name,) if base == name else (name, base)


def format_rate(number: Decimal) -> str:
    """A rate with at least two decimal places: 0.5 → 0.50, 0.0750 → 0.075."""
    text = f"{number.normalize():f}"
    whole, _, places = text.partition(".")
    return f"{whole}.{places:0<2}"


def dollars(usd: Decimal | None) -> str:
    """A sum for display: two places from $1, four from $0.01, two significant digits below."""
    if usd is None:
        return "unknown"
    sign, size = "−" if usd < 0 else "", abs(usd)
    if size == 0 or size >= 1:
        return f"{sign}${size:,.2f}"
    if size >= Decimal("0.01"):
        return f"{sign}${size:.4f}"
    if size < SMALLEST:
        return f"{sign}<$0.00000001"
    return f"{sign}${size:.{_places(size)}f}"


def _places(size: Decimal) -> int:
    """Decimal places that show two significant digits of a sum below a cent."""
    return min(8, 1 - size.adjusted())
