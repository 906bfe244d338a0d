"""A request compared with the one before it: the ledger of its items, and the break line.

Estimates from items and their bytes; what the provider reused is in its usage. An item is a hit while
every item up to it is the one sent before (reference B3). Items are compared by identity, not by
position: an item that a named cache holds is the same item.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import takewhile
from typing import Any, Self

from sessions_app.prompt.pricing import MILLION, SMALLEST, Rates
from sessions_app.prompt.stored import Code, from_json, to_json


@dataclass(frozen=True, slots=True)
class LedgerItem:
    """One item of a manifest. `identity` is equal for the same source with the same bytes, and only then.

    `is_named`: the request names a cache instead of carrying the item.
    """

    layer: str
    source: str
    identity: Hashable
    tokens: int
    is_named: bool = False


@dataclass(frozen=True, slots=True)
class Ledger:
    """The sums of one exchange, in estimated tokens. `prefix` is the number of equal leading items."""

    prefix: int
    items: int
    hits: int
    hit_tokens: int
    miss_tokens: int

    @property
    def tokens(self) -> int:
        return self.hit_tokens + self.miss_tokens

    def stored(self) -> dict[str, int]:
        return {name: getattr(self, name) for name in self.__slots__}

    @classmethod
    def restored(cls, stored: dict[str, Any]) -> Self | None:
        return cls(**stored) if stored else None


def common_prefix(before: Sequence[Hashable], now: Sequence[Hashable]) -> int:
    """The number of equal leading identities."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(before, now, strict=False)))


def ledger_of(before: Sequence[Hashable], now: Sequence[LedgerItem]) -> Ledger:
    """The ledger of a request; `before` are the identities of the one before it, empty for the first."""
    prefix = common_prefix(before, [entry.identity for entry in now])
    hits = [entry.tokens for position, entry in enumerate(now) if is_hit(entry, position, prefix)]
    total = sum(entry.tokens for entry in now)
    return Ledger(prefix, len(now), len(hits), sum(hits), total - sum(hits))


def is_hit(entry: LedgerItem, position: int, prefix: int) -> bool:
    """An item of a named cache is always a hit: another session may have created the cache."""
    return entry.is_named or position < prefix


class BreakKind(Code):
    """What happened to the culprit. SIGNED_OTHERWISE: a turn says the same with other thought signatures, or
    without some; REPLACED: a turn stands where another one stood; MOVED: nothing but the order differs;
    SHORTENED: it and all behind it are no longer sent.
    """

    CHANGED = "changed"
    SIGNED_OTHERWISE = "signed_otherwise"
    CHANGED_AND_MOVED = "changed_and_moved"
    APPEARED = "appeared"
    GONE = "gone"
    REPLACED = "replaced"
    MOVED = "moved"
    SHORTENED = "shortened"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class BreakPlace:
    """One place of a request, as each view counts it.

    `item` counts from 0 in the manifest, `part` from 1 in a turn, `line` from 1 in a text (None elsewhere).
    `char` is the number of characters before it in the item as read (in a turn, in its part), `layer_byte`
    that of the bytes before it in the items of its layer, `body_byte` in the body, None where a named cache
    holds the item. `number` is explained in `BreakLine`.
    """

    item: int
    layer: str
    source: str
    number: int
    part: int | None
    line: int | None
    char: int
    layer_byte: int
    body_byte: int | None


@dataclass(frozen=True, slots=True)
class BreakLine:
    """The first difference. `source` is the culprit with its `layer`, `at` the place where the texts part.

    `number` is that of a turn on its branch, as the chat shows it, or of a history chunk in the request, 0
    for other sources. `before` is the common text before the break, `was` and `now` the text after it on each
    side. `at` is None in a row of an earlier version, which counted other places.
    """

    kind: BreakKind
    layer: str
    source: str
    number: int
    at: BreakPlace | None
    before: str
    was: str
    now: str

    def stored(self) -> dict[str, Any]:
        return to_json(self)

    @classmethod
    def restored(cls, stored: dict[str, Any]) -> Self | None:
        """What `stored` wrote; None when there was no break."""
        return from_json(cls, stored if "at" in stored or not stored else _from_earlier(stored))


def _from_earlier(stored: dict[str, Any]) -> dict[str, Any]:
    """A row of a version that took the item at the place for the culprit: an unchanged one is not named."""
    is_certain = stored.get("kind") in (BreakKind.CHANGED, BreakKind.APPEARED, BreakKind.GONE)
    kind = stored["kind"] if is_certain else BreakKind.UNKNOWN
    kept = {name: stored.get(name, "") for name in ("layer", "source", "before", "was", "now")}
    return kept | {"kind": kind, "number": 0, "at": None}


@dataclass(frozen=True, slots=True)
class CacheLoss:
    """What the provider stopped serving from its cache: tokens, and what they cost more as new input.

    `tokens` is None when a count is missing or nobody knows why; `usd` also when the price is unknown.
    """

    tokens: int | None = None
    usd: Decimal | None = None


def cache_loss(
    was_cached: int | None, cached: int | None, prompt: int | None, rates: Rates | None
) -> CacheLoss:
    """By the provider's counts of the request before and of this one, whose `prompt` tokens were all paid."""
    if was_cached is None or cached is None or prompt is None:
        return CacheLoss()
    return loss_in_money(max(0, min(was_cached, prompt) - cached), rates)


def loss_in_money(tokens: int, rates: Rates | None) -> CacheLoss:
    """So many tokens as new input instead of from a cache; without rates their price is unknown."""
    if rates is None:
        return CacheLoss(tokens, None if tokens else Decimal(0))
    return CacheLoss(tokens, (tokens * (rates.input - rates.cached) / MILLION).quantize(SMALLEST))
