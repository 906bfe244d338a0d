"""The ways of caching that `bench cost` compares."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal

from sessions_app.bench.cost_script import TURN_SECONDS
from sessions_app.prompt.detach import SEED, Thresholds
from sessions_app.prompt.layers import Layers
from sessions_app.prompt.pace import Seen, hit_share, pace_of
from sessions_app.prompt.pricing import Rates
from sessions_app.prompt.rollover import NEVER, lifetime, longest_life, rolling_at
from sessions_app.prompt.strategy import Situation, Strategy, choose

RATES = {
    "gemini-2.5-flash": Rates(Decimal("0.30"), Decimal("0.03"), Decimal("2.50"), Decimal("1.00")),
    "gemini-3.1-pro-preview": Rates(Decimal("2.00"), Decimal("0.20"), Decimal("12.00"), Decimal("4.50")),
    "gemini-4-argon": Rates(Decimal("2.00"), Decimal("0.10"), Decimal("10.00")),
}
"""Prices of November 2026 (gemini-wire §8), up to 200,000 tokens of prompt."""

FIXED = (1_000, 2_000, 4_000, 8_000, 10_000, 16_000, 32_000, 64_000)
PIPE = (25_000, 50_000)
PAUSE_HOURS = 3 / 4 * TURN_SECONDS / 3_600
"""Of the conversation: every third turn has two requests."""

PIPE_LIFETIME = timedelta(seconds=900)


@dataclass(frozen=True, slots=True)
class Kept:
    """A cache at the provider."""

    name: str
    tokens: int
    made: datetime
    expires: datetime


@dataclass(frozen=True, slots=True)
class Sight:
    """What a way may look at before a request."""

    seen: Sequence[Seen]
    count: int
    route: str

    @property
    def prefix(self) -> int:
        return self.seen[-1].prefix if self.seen else 0

    @property
    def buffered(self) -> int:
        """Tokens of the last prompt that were in no cache and not volatile: what pipe measures."""
        if not self.seen:
            return 0
        last = self.seen[-1]
        return last.prompt - last.cached - last.dynamic


@dataclass(frozen=True, slots=True)
class Way:
    """One way. `choose` says when history moves; `buys_first` makes a cache before the request that
    needs it, when the buffer holds `threshold` tokens."""

    name: str
    choose: Callable[[Sight], Strategy]
    explicit: bool = False
    is_volatile_first: bool = False
    buys_first: bool = False
    threshold: int = 0

    def arrange(self, layers: Layers) -> Layers:
        """The layers as this way sends them."""
        if self.is_volatile_first:
            return replace(layers, static=layers.dynamic, dynamic=layers.static)
        return layers

    def is_due(self, sight: Sight) -> bool:
        return sight.buffered >= self.threshold


def ways_for(model: str) -> tuple[Way, ...]:
    """Every way that the model allows, the naive one first."""
    rates = RATES[model]
    # The same life for all, so that they differ in nothing but when they roll.
    lasting = timedelta(seconds=lifetime(rates, PAUSE_HOURS))
    still = _fixed(NEVER, NEVER, lasting)
    implicit = (
        Way("naive: nothing cached", still, is_volatile_first=True),
        Way("implicit, volatile data first", still, is_volatile_first=True),
        Way("implicit, as the layers stand", still),
        Way("implicit, seed 4’s thresholds", _fixed(SEED, NEVER, lasting)),
        *(
            Way(f"implicit, rolled at {tail // 1_000}k", _fixed(rolling_at(tail, 3), NEVER, lasting))
            for tail in FIXED[:4]
        ),
        Way("implicit, adaptive", _product(rates, "no explicit caches")),
    )
    if rates.storage is None:
        return implicit
    fixed = (
        Way(
            f"explicit, rolled at {tail // 1_000}k",
            _fixed(NEVER, rolling_at(tail, 1), lasting),
            explicit=True,
        )
        for tail in FIXED
    )
    return (
        *implicit,
        Way("explicit, static layer only", still, explicit=True),
        *fixed,
        *(_pipe(tail) for tail in PIPE),
        Way("explicit, seed 4’s thresholds", _fixed(SEED, NEVER, lasting), explicit=True),
        Way("explicit, adaptive", _product(rates, ""), explicit=True),
    )


def _fixed(before: Thresholds, after: Thresholds, lasting: timedelta) -> Callable[[Sight], Strategy]:
    chosen = Strategy("explicit", "seed", before, after, lasting, "")
    return lambda _: chosen


def _pipe(tail: int) -> Way:
    """pipe: past the threshold all but the last turn is cached, before the request that found out."""
    waiting = _fixed(NEVER, NEVER, PIPE_LIFETIME)(Sight((), 0, ""))
    due = replace(waiting, before=Thresholds(1, 1, 1, 0))
    return Way(
        f"explicit, as pipe at {tail // 1_000}k",
        lambda sight: due if sight.buffered >= tail else waiting,
        explicit=True,
        buys_first=True,
        threshold=tail,
    )


def _product(rates: Rates, refusal: str) -> Callable[[Sight], Strategy]:
    """What the product would choose with these prices."""

    def choice(sight: Sight) -> Strategy:
        longest = longest_life(rates) / 3_600
        return choose(
            Situation(
                refusal=refusal,
                mode="auto",
                policy="adaptive",
                rates=rates,
                pace=pace_of(sight.seen, sight.count, longest),
                prefix=sight.prefix,
                prompt=sight.seen[-1].prompt if sight.seen else 0,
                hit_share=hit_share(sight.seen, sight.route),
            )
        )

    return choice
