"""What an exchange cost: tokens as the provider counted them, times the price of the day.

`promptTokenCount` includes the cached tokens (gemini-wire §4), so the prompt is split into new and
cached and no token is ever charged twice; thoughts are charged as output, tool-use prompt tokens as
input. Money is in US dollars and exact (Decimal); rates are dollars per million tokens.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal
from typing import Any, Self

from sessions_app.prompt.reply import Usage

MILLION = Decimal(1_000_000)
SMALLEST = Decimal("0.00000001")
"""What a stored sum is rounded to: eight places hold one token of the cheapest cached input."""

_REVISION = re.compile(r"(?<=.)-(\d{3}|preview-\d\d-\d{2,4})$")


@dataclass(frozen=True, slots=True)
class Rates:
    """US dollars per million tokens. `storage` is per million tokens and hour; None when unknown."""

    input: Decimal
    cached: Decimal
    output: Decimal
    storage: Decimal | None = None


@dataclass(frozen=True, slots=True)
class Term:
    """One product of the sum: so many tokens of one kind at one rate."""

    name: str
    tokens: int
    rate: Decimal

    @property
    def usd(self) -> Decimal:
        return self.tokens * self.rate / MILLION

    @property
    def words(self) -> str:
        return f"{self.tokens:,} {self.name} × ${plain(self.rate)}"


@dataclass(frozen=True, slots=True)
class Money:
    """What one exchange cost, as the sum of its terms.

    `at_least`: the answer was not received to its end, so the provider may have counted more.
    `estimated`: the provider reported nothing and the tokens are ours.
    """

    terms: tuple[Term, ...]
    at_least: bool = False
    estimated: bool = False

    @property
    def total(self) -> Decimal:
        return sum((term.usd for term in self.terms), Decimal(0)).quantize(SMALLEST, ROUND_HALF_EVEN)

    @property
    def equation(self) -> str:
        """The sum in words and numbers; the rates in it are per million tokens."""
        if not self.terms:
            return f"nothing counted = {dollars(self.total)}"
        sign = "≥" if self.at_least else "≈" if self.estimated else "="
        return f"{' + '.join(term.words for term in self.terms)} {sign} {dollars(self.total)}"

    def stored(self) -> dict[str, Any]:
        """As JSON; decimals are strings, since a float would not be the sum."""
        return {
            "terms": [
                {"name": term.name, "tokens": term.tokens, "rate": str(term.rate)} for term in self.terms
            ],
            "at_least": self.at_least,
            "estimated": self.estimated,
        }

    @classmethod
    def restored(cls, stored: Mapping[str, Any]) -> Self | None:
        """What `stored` wrote; None for an exchange whose price was unknown."""
        if "terms" not in stored:
            return None
        terms = (Term(term["name"], term["tokens"], Decimal(term["rate"])) for term in stored["terms"])
        return cls(tuple(terms), bool(stored.get("at_least")), bool(stored.get("estimated")))


def cost(usage: Usage, rates: Rates) -> Money:
    """The terms of one exchange; a kind of which no token was counted has no term."""
    cached = min(usage.cached, usage.prompt)
    terms = (
        Term("new", usage.prompt - cached, rates.input),
        Term("cached", cached, rates.cached),
        Term("tool use", usage.tool_use, rates.input),
        Term("output", usage.output, rates.output),
        Term("thoughts", usage.thoughts, rates.output),
    )
    return Money(tuple(term for term in terms if term.tokens))


def making(tokens: int, rates: Rates) -> Money:
    """What making an explicit cache costs once: its tokens as new input.

    gemini-wire and the provider's price page give no price of its own for it.
    """
    return Money((Term("cache made", tokens, rates.input),))


def storage(tokens: int, hours: float | Decimal, rates: Rates) -> Decimal | None:
    """What keeping an explicit cache costs; None when the price is unknown."""
    if rates.storage is None:
        return None
    return (tokens * Decimal(hours) * rates.storage / MILLION).quantize(SMALLEST, ROUND_HALF_EVEN)


def names_of(model: str) -> tuple[str, ...]:
    """The names a price may be listed under, longest first: without `models/`, without a revision.

    A longer name is never cut to a shorter model: flash-lite at the price of flash would be a lie.
    """
    name = model.rpartition("/")[2]
    base = _REVISION.sub("", name)
    return (name,) if base == name else (name, base)


def plain(number: Decimal) -> str:
    """A rate without idle zeros, but with cents: 0.5 → 0.50, 0.0750 → 0.075."""
    text = f"{number.normalize():f}"
    whole, _, places = text.partition(".")
    return f"{whole}.{places:0<2}"


def dollars(usd: Decimal | None) -> str:
    """A sum as a person reads it: two places from a dollar on, four significant digits below a cent."""
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
