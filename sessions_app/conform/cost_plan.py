"""What the probes may cost at most, before anything is sent."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from sessions_app.prompt.pricing import Rates, cost, creation_cost, dollars, storage_cost
from sessions_app.prompt.reply import Usage

BOUND = Decimal("0.05")
"""US dollars that a run may cost at most."""

DEAREST = Rates(Decimal(4), Decimal("0.4"), Decimal(20), Decimal("4.5"))
"""The default without a price: that of the dearest listed model (gemini-wire §8)."""

SEARCH_FEE = Decimal("0.014")
"""US dollars for one query of Google Search beyond the free ones (Gemini 3, Google's price page, 2026)."""


@dataclass(frozen=True, slots=True)
class Cost:
    """An upper limit: requests, tokens sent (`cached` of them named by a cache) and answered, tokens kept in
    caches for `seconds`, and `fee` (US dollars) for what is not charged by token."""

    requests: int
    sent: int = 0
    answered: int = 0
    cached: int = 0
    kept: int = 0
    seconds: int = 0
    fee: Decimal = Decimal(0)

    def usd(self, rates: Rates) -> Decimal:
        tokens = cost(Usage(prompt=self.sent, cached=self.cached, output=self.answered), rates).total
        return tokens + kept_cost(self.kept, self.seconds, rates) + self.fee


@dataclass(frozen=True, slots=True)
class PlannedProbe:
    """`skip_reason` is empty when the probe will run."""

    name: str
    cost: Cost
    usd: Decimal
    skip_reason: str = ""


@dataclass(frozen=True, slots=True)
class Plan:
    """The probes of a run that are still to do. `spent` is what its earlier parts cost."""

    probes: tuple[PlannedProbe, ...]
    spent: Decimal = Decimal(0)

    @property
    def usd(self) -> Decimal:
        """The most that the run will have cost in the end."""
        return self.spent + sum((probe.usd for probe in self.probes), Decimal(0))

    @property
    def requests(self) -> int:
        return sum(probe.cost.requests for probe in self.probes if not probe.skip_reason)

    def lines(self, budget: Decimal) -> list[str]:
        return [
            f"{'probe':<22} {'requests':>8} {'sent':>7} {'answered':>8} {'kept':>6} {'at most':>10}",
            *(_line(probe) for probe in self.probes),
            *([f"{'earlier':<22} {dollars(self.spent):>43}"] if self.spent else []),
            f"{'all':<22} {self.requests:>8} {dollars(self.usd):>34} of {dollars(budget)}",
        ]

    def dearest(self) -> Sequence[PlannedProbe]:
        return sorted(self.probes, key=lambda probe: probe.usd, reverse=True)[:3]


def kept_cost(tokens: int, seconds: int, rates: Rates) -> Decimal:
    """The creation of an explicit cache with its storage, at the dearest listed price where it is unknown."""
    hours = Decimal(seconds) / 3600
    stored = storage_cost(tokens, hours, rates)
    return creation_cost(tokens, rates).total + (
        storage_cost(tokens, hours, DEAREST) or Decimal(0) if stored is None else stored
    )


def _line(probe: PlannedProbe) -> str:
    if probe.skip_reason:
        return f"{probe.name:<22} not run: {probe.skip_reason}"
    cost = probe.cost
    usd = dollars(probe.usd) if probe.usd else "free"
    return (
        f"{probe.name:<22} {cost.requests:>8} {cost.sent:>7,} {cost.answered:>8,} {cost.kept:>6,} {usd:>10}"
        + (f"  with a fee of {dollars(cost.fee)} for Google Search" if cost.fee else "")
    )
