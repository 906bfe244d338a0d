"""The cache tab: plan, verdict, break line, ledger and cost."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import groupby

from sessions_app.inspector import formatting
from sessions_app.inspector.tabs.base import Tab
from sessions_app.models import CacheEntry, Exchange, Price
from sessions_app.prompt.prefix_diff import BreakLine, Ledger, LedgerLine, ledger_lines
from sessions_app.prompt.pricing import Money, Rates, dollars
from sessions_app.wording import break_lines, cache_plans, costs, strategies

MIN_GROUP = 4
"""Consecutive turns of one layer and mark that share a line of the ledger from this number on."""


@dataclass(frozen=True, slots=True)
class LedgerRow:
    """One line of the ledger; `usd` is an estimate, formatted."""

    name: str
    layer: str
    is_hit: bool
    is_named: bool
    tokens: int
    usd: str


@dataclass(frozen=True, slots=True)
class ShownLedger:
    sums: Ledger
    rows: tuple[LedgerRow, ...]
    hit_usd: str
    miss_usd: str


@dataclass(frozen=True, slots=True)
class ShownBreak:
    """The break line with visible control characters and formatted sums."""

    line: BreakLine
    place: str
    happened: str
    before: str
    was: str
    now: str
    usd: str


@dataclass(frozen=True, slots=True)
class ShownCache:
    """`entry` is the current row, which may have changed since the exchange."""

    plan: str
    reason: str
    strategy: str
    entry: CacheEntry | None
    is_named: bool
    broken: ShownBreak | None
    ledger: ShownLedger | None
    equation: str
    price: Price | None


class CacheTab(Tab):
    id = "cache"
    title = "Cache"

    def context(self, exchange: Exchange, *, raw: bool) -> ShownCache:
        rates = exchange.price.rates(exchange.prompt_tokens or 0) if exchange.price else None
        return ShownCache(
            plan=cache_plans.action(exchange.cache_action),
            reason=formatting.visible(
                cache_plans.reason(exchange.cache_plan, exchange.earlier("cache_plan"))
            ),
            strategy=formatting.visible(strategies.sentence(exchange.strategy, exchange.earlier("strategy"))),
            entry=entry_of(exchange),
            is_named=bool(exchange.cache_name),
            broken=break_of(exchange),
            ledger=ledger_of(exchange, rates),
            equation=costs.equation(Money.restored(exchange.money)),
            price=exchange.price,
        )


def entry_of(exchange: Exchange) -> CacheEntry | None:
    if not exchange.fingerprint:
        return None
    return CacheEntry.objects.filter(fingerprint=exchange.fingerprint).first()


def break_of(exchange: Exchange) -> ShownBreak | None:
    line = exchange.found_break
    if line is None:
        return None
    return ShownBreak(
        line=line,
        place=formatting.visible(break_lines.place(line)),
        happened=formatting.visible(break_lines.change(line)),
        before=formatting.visible(line.before),
        was=formatting.visible(line.was),
        now=formatting.visible(line.now),
        usd=dollars(Decimal(line.usd) if line.usd else None),
    )


def ledger_of(exchange: Exchange, rates: Rates | None) -> ShownLedger | None:
    totals = Ledger.restored(exchange.ledger)
    if totals is None:
        return None
    lines = ledger_lines(exchange.ledger_entries(), totals.prefix, rates)
    return ShownLedger(
        totals,
        tuple(rows_of(lines)),
        *(dollars(total([line for line in lines if line.is_hit is hit])) for hit in (True, False)),
    )


def rows_of(lines: Sequence[LedgerLine]) -> Iterator[LedgerRow]:
    """One row for each line, or for a group of at least `MIN_GROUP` turns."""
    turn = 0
    for (is_turn, layer, hit), group in groupby(lines, key=_alike):
        members = list(group)
        if is_turn and len(members) >= MIN_GROUP:
            yield row(f"turns {turn + 1} to {turn + len(members)}", layer, members, hit=hit)
        else:
            names = (break_lines.source_name(one.entry.source, turn + n) for n, one in enumerate(members, 1))
            yield from (row(name, layer, [one], hit=hit) for name, one in zip(names, members, strict=True))
        turn += len(members) if is_turn else 0


def row(name: str, layer: str, members: Sequence[LedgerLine], *, hit: bool) -> LedgerRow:
    tokens = sum(one.entry.tokens for one in members)
    shown = formatting.visible(name[0].upper() + name[1:])
    return LedgerRow(shown, layer, hit, members[0].entry.is_named, tokens, dollars(total(members)))


def total(lines: Sequence[LedgerLine]) -> Decimal | None:
    """The estimated cost of these lines; None when the price is unknown."""
    known = [line.usd for line in lines if line.usd is not None]
    return sum(known, Decimal(0)) if len(known) == len(lines) else None


def _alike(line: LedgerLine) -> tuple[bool, str, bool]:
    return line.entry.source.startswith("turn:"), line.entry.layer, line.is_hit
