"""The cache tab: plan, verdict, break line, ledger and cost."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from itertools import groupby, islice, takewhile

from django.utils import timezone

from sessions_app.exchange_sums import equation_of, money_of
from sessions_app.inspector import formatting
from sessions_app.inspector.shown_breaks import ShownBreak, break_of
from sessions_app.inspector.source_titles import SourceTitles
from sessions_app.inspector.tabs.base import Tab
from sessions_app.models import CacheEntry, CacheEvent, Exchange, Price
from sessions_app.prompt.billing import (
    Bill,
    BilledAs,
    BilledItem,
    ItemChange,
    PromptCount,
    bill_of,
    changes_of,
    unseen_cache,
)
from sessions_app.prompt.cache_life import CacheEventKind
from sessions_app.prompt.prefix_diff import LedgerItem
from sessions_app.prompt.pricing import Money, TermKind, dollars
from sessions_app.wording import cache_events, cache_plans, costs, strategies

MIN_GROUP = 4
"""Consecutive turns of one layer and mark that share a line of the ledger from this number on."""

LONGEST_LIFE, EVENTS_READ = 12, 200
"""Lines that the life of an entry takes at most, and events that are read for them."""


@dataclass(frozen=True, slots=True)
class LedgerRow:
    """One line of the ledger, formatted. `change` is our fact, `billed` the provider's."""

    name: str
    layer: str
    change: ItemChange
    changed: str
    is_named: bool
    billed: BilledAs
    how: str
    tokens: int
    usd: str


@dataclass(frozen=True, slots=True)
class BesideRow:
    """What is billed beside the items: tokens of one kind, formatted."""

    name: str
    tokens: int
    usd: str


@dataclass(frozen=True, slots=True)
class ShownLedger:
    """`is_counted`: the provider counted the prompt; `is_estimated`: it counted nothing, and the tokens
    beside the items are ours. `total` is what was paid, with all its digits.
    """

    rows: tuple[LedgerRow, ...]
    rest: tuple[BesideRow, ...]
    is_counted: bool
    is_estimated: bool
    total: str
    mark: str


@dataclass(frozen=True, slots=True)
class LifeRow:
    """One event of the entry, or several alike in a row. `numbers` are those of the first and the last
    exchange, where they are of the same session.
    """

    at: datetime
    what: str
    numbers: tuple[int, ...]
    expires: datetime | None
    why: str


@dataclass(frozen=True, slots=True)
class ShownCache:
    """`entry` is the current row, which may have changed since the exchange, and `state` what is known of it.
    `is_cut_off`: as in `Money`.
    """

    plan: str
    reason: str
    strategy: str
    entry: CacheEntry | None
    state: str
    state_text: str
    is_named: bool
    broken: ShownBreak | None
    life: tuple[LifeRow, ...]
    ledger: ShownLedger | None
    equation: str
    price: Price | None
    is_cut_off: bool


class CacheTab(Tab):
    id = "cache"
    title = "Cache"

    def context(self, exchange: Exchange, *, raw: bool) -> ShownCache:
        money, entry = money_of(exchange), entry_of(exchange)
        state = state_of(entry, timezone.now()) if entry else ""
        return ShownCache(
            plan=cache_plans.action(exchange.cache_action),
            reason=formatting.visible(
                cache_plans.reason(exchange.cache_plan, exchange.earlier("cache_plan"))
            ),
            strategy=formatting.visible(strategies.sentence(exchange.strategy, exchange.earlier("strategy"))),
            entry=entry,
            state=state,
            state_text=cache_plans.state(state),
            is_named=bool(exchange.cache_name),
            broken=break_of(exchange),
            life=life_of(exchange),
            ledger=ledger_of(exchange),
            equation=equation_of(exchange),
            price=exchange.price,
            is_cut_off=money is not None and money.is_cut_off,
        )


def entry_of(exchange: Exchange) -> CacheEntry | None:
    if not exchange.fingerprint:
        return None
    return CacheEntry.objects.filter(fingerprint=exchange.fingerprint).first()


def state_of(entry: CacheEntry, now: datetime) -> str:
    """A cache that nobody extended is over when its time is, also before a round of the janitor notes it; so
    is a claim of a process that ended.
    """
    if entry.state == CacheEntry.State.PENDING and not entry.is_claimed(now):
        return cache_plans.UNFINISHED
    is_over = (
        entry.state == CacheEntry.State.LIVE and entry.expires_at is not None and entry.expires_at <= now
    )
    return cache_plans.EXPIRED if is_over else entry.state


def life_of(exchange: Exchange) -> tuple[LifeRow, ...]:
    """What happened to the entry, oldest first, at most `LONGEST_LIFE` lines: one query."""
    events = CacheEvent.objects.filter(entry__fingerprint=exchange.fingerprint)
    newest = list(events.select_related("exchange").order_by("-at", "-pk")[:EVENTS_READ])
    groups = [list(group) for _, group in groupby(reversed(newest), key=_told_alike)]
    return tuple(life_row(group, exchange.session_id) for group in groups[-LONGEST_LIFE:])


def life_row(events: Sequence[CacheEvent], session_pk: int) -> LifeRow:
    ours = [one.exchange.number for one in events if one.exchange and one.session_id == session_pk]
    last = events[-1]
    return LifeRow(
        at=last.at,
        what=cache_events.event(last.kind, last.reason, len(events)),
        numbers=tuple(dict.fromkeys((ours[0], ours[-1]))) if ours else (),
        expires=last.expires,
        why=formatting.visible(cache_events.reason(last.reason, last.said)),
    )


def _told_alike(event: CacheEvent) -> object:
    """Whoever only names or extends a cache again is told in the line before."""
    repeats = event.kind in (CacheEventKind.NAMED, CacheEventKind.EXTENDED)
    return (event.kind, event.name) if repeats else event.pk


def ledger_of(exchange: Exchange) -> ShownLedger | None:
    """The bill of the exchange at the rates that it was charged at; None before the request was compared."""
    if not exchange.ledger:
        return None
    bill, money = bill_for(exchange), money_of(exchange)
    titles = SourceTitles(exchange.session_id, [item.entry.source for item in bill.items])
    return ShownLedger(
        tuple(rows_of(bill.items, titles)),
        tuple(BesideRow(costs.TOKEN_KINDS[term.name], term.tokens, dollars(term.usd)) for term in bill.rest),
        is_counted=exchange.prompt_tokens is not None,
        is_estimated=money is not None and money.estimated,
        total=f"${money.total:f}" if money else "unknown",
        mark=costs.bound_of(money),
    )


def bill_for(exchange: Exchange) -> Bill:
    """The items of the request as they were billed."""
    items, money = exchange.ledger_entries(), Money.restored(exchange.money)
    earlier, count = exchange.previous, count_of(exchange, money)
    before = earlier.manifest.get("entries", []) if earlier else None
    same = said_before(exchange, items) if earlier else 0
    changes = changes_of(
        before and [entry[0] for entry in before], [one.identity for one in items], same=same
    )
    unseen = unseen_in(exchange, items, count)
    if unseen:
        is_same = earlier is not None and earlier.cache_name == exchange.cache_name
        changes = [ItemChange.UNCHANGED if is_same else ItemChange.UNKNOWN, *changes]
    return bill_of([*unseen, *items], changes, count, money)


def said_before(exchange: Exchange, items: Sequence[LedgerItem]) -> int:
    """How many leading items say what the request before said, perhaps in other bytes, as the verdict counts
    them. A culprit is none of them, though all that is left of it may be what it had said.
    """
    culprit = exchange.break_line.get("source")
    same = islice(items, exchange.ledger.get("prefix", 0))
    return sum(1 for _ in takewhile(lambda one: one.source != culprit, same))


def unseen_in(exchange: Exchange, items: Sequence[LedgerItem], count: PromptCount | None) -> list[LedgerItem]:
    """What the request named of which no item is known; empty where it named nothing like it."""
    is_seen = not exchange.cache_name or any(one.is_named for one in items)
    return [] if is_seen or count is None else [unseen_cache(items, count)]


def count_of(exchange: Exchange, money: Money | None) -> PromptCount | None:
    """The prompt as it was charged; None where the provider counted nothing."""
    if exchange.prompt_tokens is None:
        return None
    if money is None:
        return PromptCount(exchange.prompt_tokens, exchange.cached_tokens or 0)
    tokens = {term.name: term.tokens for term in money.terms}
    cached = tokens.get(TermKind.CACHED, 0)
    return PromptCount(tokens.get(TermKind.NEW, 0) + cached, cached)


def rows_of(items: Sequence[BilledItem], titles: SourceTitles) -> Iterator[LedgerRow]:
    """One row for each item, or for a group of at least `MIN_GROUP` turns."""
    for (is_turn, layer, *_), group in groupby(items, key=_alike):
        members = list(group)
        if is_turn and len(members) >= MIN_GROUP:
            yield row(titles.span([one.entry.source for one in members]), layer, members)
        else:
            yield from (row(titles.title(one.entry.source), layer, [one]) for one in members)


def row(name: str, layer: str, members: Sequence[BilledItem]) -> LedgerRow:
    """`members` are alike: one change, one way of billing."""
    first = members[0]
    cached, new = sum(one.cached for one in members), sum(one.new for one in members)
    is_unknown = first.billed is BilledAs.UNKNOWN
    return LedgerRow(
        formatting.visible(name),
        layer,
        first.change,
        costs.CHANGES[first.change],
        first.entry.is_named,
        first.billed,
        costs.billed(first.billed, cached, new),
        sum(one.entry.tokens for one in members) if is_unknown else cached + new,
        dollars(total(members)),
    )


def total(items: Sequence[BilledItem]) -> Decimal | None:
    """What these items cost; None when it is unknown."""
    known = [item.usd for item in items if item.usd is not None]
    return sum(known, Decimal(0)) if len(known) == len(items) else None


def _alike(item: BilledItem) -> tuple[bool, str, ItemChange, BilledAs, bool]:
    entry = item.entry
    return entry.source.startswith("turn:"), entry.layer, item.change, item.billed, entry.is_named
