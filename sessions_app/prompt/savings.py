"""What would have saved money: the losses of a session's exchanges by cause, and caches that did not pay.

Each loss (`prefix_diff.CacheLoss`) has one cause (`saving_causes.cause_of`), so the sums over the causes
are the sums over the exchanges. Money that was paid for an explicit cache beyond what it can have saved is
no loss of an exchange; it is a cause of its own.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from sessions_app.prompt.saving_causes import SavingCause

NO_MONEY = Decimal(0)


@dataclass(frozen=True, slots=True)
class ExchangeLoss:
    """What one exchange lost: tokens, and money (None: the price is unknown). `source` is the culprit with
    the number of its turn or chunk, empty where no source did it. `idle_seconds` lay before the request.
    """

    number: int
    cause: SavingCause
    tokens: int
    usd: Decimal | None
    source: str = ""
    source_number: int = 0
    idle_seconds: float = 0.0
    minimum: int = 0


@dataclass(frozen=True, slots=True)
class CacheUse:
    """One explicit cache that has ended: what a session paid for it, and how much of that it saved at most.

    `uses` counts the exchanges that were answered from it, of any session; `exchange` is the number of the
    session's first one that had to do with it. `is_whole`: every amount is known.
    """

    paid: Decimal
    saved: Decimal
    uses: int
    exchange: int | None
    is_whole: bool = True

    @property
    def wasted(self) -> Decimal:
        return max(NO_MONEY, self.paid - self.saved)


@dataclass(frozen=True, slots=True)
class Saving:
    """The losses of one cause. `unpriced` of the `requests` lost tokens of an unknown price.

    `largest` is the number of the exchange that lost most, None without one; `source` the culprit that cost
    most, and `other_sources` how many others there were. `idle_seconds` is the longest pause. `paid`, `saved`
    and `caches` are those of caches that were hardly used.
    """

    cause: SavingCause
    requests: int
    tokens: int
    usd: Decimal
    unpriced: int = 0
    largest: int | None = None
    source: str = ""
    source_number: int = 0
    other_sources: int = 0
    idle_seconds: float = 0.0
    minimum: int = 0
    caches: int = 0
    paid: Decimal = NO_MONEY
    saved: Decimal = NO_MONEY


@dataclass(frozen=True, slots=True)
class Savings:
    """`causes` are sorted, the most expensive first. Of `unknown` exchanges nobody knows what they lost;
    `answered` are all that the provider counted. `unknown_caches` cost or saved an unknown amount.
    `missed` is what could have been reused besides (`missed_reuse`), sorted too, and in no sum.
    """

    causes: tuple[Saving, ...]
    answered: int
    unknown: int = 0
    unknown_caches: int = 0
    missed: tuple[Saving, ...] = ()

    @property
    def usd(self) -> Decimal:
        return sum((one.usd for one in self.causes), NO_MONEY)

    @property
    def tokens(self) -> int:
        return sum(one.tokens for one in self.causes)

    @property
    def is_whole(self) -> bool:
        """Whether the sums are all that was lost, not a lower bound."""
        return not (self.unknown or self.unknown_caches or any(one.unpriced for one in self.causes))


def savings_of(
    losses: Iterable[ExchangeLoss],
    caches: Sequence[CacheUse] = (),
    *,
    answered: int,
    unknown: int = 0,
    missed: Iterable[ExchangeLoss] = (),
) -> Savings:
    """The sums by cause of exchanges that lost something, and of ended caches."""
    found = _by_cause(losses)
    wasted = [one for one in caches if one.is_whole and one.wasted]
    if wasted:
        found.append(_hardly_used(wasted))
    unknown_caches = sum(not one.is_whole for one in caches)
    return Savings(
        _largest_first(found), answered, unknown, unknown_caches, _largest_first(_by_cause(missed))
    )


def _by_cause(losses: Iterable[ExchangeLoss]) -> list[Saving]:
    groups: dict[SavingCause, list[ExchangeLoss]] = defaultdict(list)
    for loss in losses:
        groups[loss.cause].append(loss)
    return [_summed(cause, own) for cause, own in groups.items()]


def _largest_first(found: Iterable[Saving]) -> tuple[Saving, ...]:
    return tuple(sorted(found, key=lambda one: (-one.usd, -one.tokens, one.cause)))


def _summed(cause: SavingCause, losses: Sequence[ExchangeLoss]) -> Saving:
    largest = max(losses, key=_size)
    by_source: dict[tuple[str, int], list[ExchangeLoss]] = defaultdict(list)
    for loss in losses:
        by_source[loss.source, loss.source_number].append(loss)
    named = [key for key in by_source if key[0]]
    source, number = max(named, key=lambda key: _sizes(by_source[key]), default=("", 0))
    return Saving(
        cause,
        requests=len(losses),
        tokens=sum(one.tokens for one in losses),
        usd=sum((one.usd for one in losses if one.usd is not None), NO_MONEY),
        unpriced=sum(one.usd is None for one in losses),
        largest=largest.number,
        source=source,
        source_number=number,
        other_sources=max(0, len(named) - 1),
        idle_seconds=max(one.idle_seconds for one in losses),
        minimum=max(one.minimum for one in losses),
    )


def _size(loss: ExchangeLoss) -> tuple[Decimal, int, int]:
    """The key that orders losses: money, then tokens; of equal ones the earlier is the larger."""
    return loss.usd or NO_MONEY, loss.tokens, -loss.number


def _sizes(losses: Sequence[ExchangeLoss]) -> tuple[Decimal, int, int]:
    usd = sum((one.usd or NO_MONEY for one in losses), NO_MONEY)
    return usd, sum(one.tokens for one in losses), -losses[0].number


def _hardly_used(caches: Sequence[CacheUse]) -> Saving:
    worst = max(caches, key=lambda one: one.wasted)
    return Saving(
        SavingCause.HARDLY_USED,
        requests=sum(one.uses for one in caches),
        tokens=0,
        usd=sum((one.wasted for one in caches), NO_MONEY),
        largest=worst.exchange,
        caches=len(caches),
        paid=sum((one.paid for one in caches), NO_MONEY),
        saved=sum((one.saved for one in caches), NO_MONEY),
    )
