"""How the items of a request were billed: the provider's counts laid over them in reading order.

The provider counts a request as a whole. Its prompt tokens are shared out over the items by our estimates,
and the cached ones lie at the front: the first tokens of the request, or those of the named cache. So a line
is an estimate, and the sum is what was paid, to the last digit.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal

from sessions_app.prompt.layers import Layer
from sessions_app.prompt.prefix_diff import LedgerItem, common_prefix
from sessions_app.prompt.pricing import MILLION, SMALLEST, Money, PriceTerm, TermKind
from sessions_app.prompt.stored import Code


class ItemChange(Code):
    """An item against the request before: the same with all before it; the same behind a change; new."""

    UNCHANGED = "unchanged"
    BEHIND = "behind"
    NEW = "new"
    UNKNOWN = "unknown"


class BilledAs(Code):
    """At which rate the tokens of an item were billed. NOTHING: it got no token of the provider's count."""

    CACHED = "cached"
    NEW = "new"
    BOTH = "both"
    NOTHING = "nothing"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class PromptCount:
    """The provider's count of a prompt; `cached` is part of `prompt`."""

    prompt: int
    cached: int


@dataclass(frozen=True, slots=True)
class BilledItem:
    """One item with its share of the provider's count; `usd` is None when price or count is unknown."""

    entry: LedgerItem
    change: ItemChange
    billed: BilledAs
    cached: int = 0
    new: int = 0
    usd: Decimal | None = None


@dataclass(frozen=True, slots=True)
class Bill:
    """The items, and what is billed beside them: tool use, output and thoughts."""

    items: tuple[BilledItem, ...]
    rest: tuple[PriceTerm, ...] = ()

    @property
    def total(self) -> Decimal | None:
        """None when a line is unknown."""
        known = [item.usd for item in self.items if item.usd is not None]
        if not known or len(known) < len(self.items):
            return None
        return (sum(known, Decimal(0)) + sum((term.usd for term in self.rest), Decimal(0))).quantize(
            SMALLEST, ROUND_HALF_EVEN
        )


def changes_of(
    before: Sequence[Hashable] | None, now: Sequence[Hashable], *, same: int = 0
) -> list[ItemChange]:
    """Each item against the identities of the request before; None when there was none: all are new.

    The first `same` items say what those of that request said, perhaps in other bytes.
    """
    prefix, known = max(same, common_prefix(before or (), now)), set(before or ())
    return [
        ItemChange.UNCHANGED
        if position < prefix
        else ItemChange.BEHIND
        if identity in known
        else ItemChange.NEW
        for position, identity in enumerate(now)
    ]


def bill_of(
    items: Sequence[LedgerItem], changes: Sequence[ItemChange], count: PromptCount | None, money: Money | None
) -> Bill:
    """`count` is None when the provider counted nothing, `money` when the price is unknown."""
    rest = tuple(term for term in money.terms if term.name not in IN_PROMPT) if money else ()
    if count is None:
        pairs = zip(items, changes, strict=True)
        return Bill(tuple(BilledItem(entry, change, BilledAs.UNKNOWN) for entry, change in pairs), rest)
    rates = {term.name: term.rate for term in money.terms} if money else None
    shares = zip(items, changes, share_out(items, count), strict=True)
    return Bill(tuple(_billed(entry, change, *share, rates) for entry, change, share in shares), rest)


UNSEEN_CACHE = "unseen_cache"
"""The source of what a named cache holds of which nothing is known: nobody was seen making it."""


def unseen_cache(items: Sequence[LedgerItem], count: PromptCount) -> LedgerItem:
    """An item for all of it, with the tokens that our estimates of the others leave of the count."""
    rest = count.prompt - sum(one.tokens for one in items)
    return LedgerItem(Layer.STATIC.value, UNSEEN_CACHE, 0, max(1, rest), is_named=True)


IN_PROMPT = frozenset({TermKind.NEW, TermKind.CACHED})
"""The terms that the items make up."""


def share_out(items: Sequence[LedgerItem], count: PromptCount) -> list[tuple[int, int]]:
    """The cached and the new tokens of each item; they sum up to the provider's.

    Where a cache was named and used, its items are the cached tokens and all others are new.
    """
    cached = min(count.cached, count.prompt)
    weights = [entry.tokens for entry in items]
    if cached and any(entry.is_named for entry in items):
        named = apportion([entry.tokens if entry.is_named else 0 for entry in items], cached)
        if all(entry.is_named for entry in items):
            return list(zip(named, apportion(weights, count.prompt - cached), strict=True))
        others = [0 if entry.is_named else entry.tokens for entry in items]
        return list(zip(named, apportion(others, count.prompt - cached), strict=True))
    shares = []
    for tokens in apportion(weights, count.prompt):
        part = min(tokens, cached)
        shares.append((part, tokens - part))
        cached -= part
    return shares


def apportion(weights: Sequence[int], total: int) -> list[int]:
    """`total` in whole parts as the weights are, by largest remainders; all in the last where none weighs."""
    whole = sum(weights)
    if not whole:
        return [*(0 for _ in weights[1:]), total] if weights else []
    parts = [total * weight // whole for weight in weights]
    by_remainder = sorted(range(len(weights)), key=lambda index: -(total * weights[index] % whole))
    for index in by_remainder[: total - sum(parts)]:
        parts[index] += 1
    return parts


def _billed(
    entry: LedgerItem, change: ItemChange, cached: int, new: int, rates: dict[TermKind, Decimal] | None
) -> BilledItem:
    kind = BilledAs.BOTH if cached and new else BilledAs.CACHED if cached else BilledAs.NEW
    if rates is None:
        usd = None
    else:
        zero = Decimal(0)
        usd = (cached * rates.get(TermKind.CACHED, zero) + new * rates.get(TermKind.NEW, zero)) / MILLION
    return BilledItem(entry, change, kind if cached or new else BilledAs.NOTHING, cached, new, usd)
