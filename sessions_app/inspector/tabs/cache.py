"""What was planned for the cache, what our bytes did, what the provider did, and what it cost."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import groupby

from sessions_app.inspector import texts
from sessions_app.inspector.tabs.base import Tab
from sessions_app.models import CacheEntry, Exchange, Price, Source
from sessions_app.prompt.breaks import BreakLine, spoken
from sessions_app.prompt.ledger import Entry, Ledger, Line, lines_of
from sessions_app.prompt.pricing import Money, Rates, dollars
from sessions_app.prompt.verdict import two_facts

ACTIONS = {
    "none": "No cache was used",
    "hit": "A cache was named instead of sending the static layer",
    "miss": "The static layer was sent inline",
    "create": "The static layer was sent inline, to be cached after the answer",
    "extend": "A cache was named instead of sending the static layer, and prolonged after the answer",
    "drop": "The static layer was sent inline; the session left its cache",
}

TOGETHER = 4
"""Turns in a row with the same mark that share one line of the ledger: a history of a thousand fits."""


@dataclass(frozen=True, slots=True)
class LedgerRow:
    """One line of the ledger; `usd` is in words, estimated."""

    name: str
    layer: str
    is_hit: bool
    is_named: bool
    tokens: int
    usd: str


@dataclass(frozen=True, slots=True)
class ShownLedger:
    """Our estimate item by item; the provider's own counts stand beside it on the page."""

    sums: Ledger
    rows: tuple[LedgerRow, ...]
    hit_usd: str
    miss_usd: str


@dataclass(frozen=True, slots=True)
class ShownBreak:
    """The break line for reading: control characters are shown, sums are words."""

    line: BreakLine
    before: str
    was: str
    now: str
    usd: str


@dataclass(frozen=True, slots=True)
class ShownCache:
    """`entry` is the row as it is now, which may have changed since the exchange."""

    plan: str
    entry: CacheEntry | None
    is_named: bool
    ours: str
    theirs: str
    broken: ShownBreak | None
    ledger: ShownLedger | None
    equation: str
    price: Price | None


class CacheTab(Tab):
    id = "cache"
    title = "Cache"

    def context(self, exchange: Exchange, *, raw: bool) -> ShownCache:
        ours, theirs = two_facts(exchange.verdict_words)
        rates = exchange.price.rates(exchange.prompt_tokens or 0) if exchange.price else None
        return ShownCache(
            plan=ACTIONS.get(exchange.cache_action, "No plan was made"),
            entry=entry_of(exchange),
            is_named=bool(exchange.cache_name),
            ours=texts.visible(ours),
            theirs=texts.visible(theirs),
            broken=break_of(exchange),
            ledger=ledger_of(exchange, rates),
            equation=equation_of(exchange),
            price=exchange.price,
        )


def entry_of(exchange: Exchange) -> CacheEntry | None:
    if not exchange.fingerprint:
        return None
    return CacheEntry.objects.filter(fingerprint=exchange.fingerprint).first()


def break_of(exchange: Exchange) -> ShownBreak | None:
    line = BreakLine.restored(exchange.break_line)
    if line is None:
        return None
    before, was, now = map(texts.visible, (line.before, line.was, line.now))
    return ShownBreak(line, before, was, now, dollars(Decimal(line.usd) if line.usd else None))


def equation_of(exchange: Exchange) -> str:
    """The sum in words and numbers; empty when there is none."""
    money = Money.restored(exchange.money)
    return money.equation if money else ""


def ledger_of(exchange: Exchange, rates: Rates | None) -> ShownLedger | None:
    sums = Ledger.restored(exchange.ledger)
    if sums is None:
        return None
    lines = lines_of(entries_of(exchange), sums.prefix, rates)
    return ShownLedger(
        sums,
        tuple(rows_of(lines)),
        *(dollars(total([line for line in lines if line.is_hit is hit])) for hit in (True, False)),
    )


def entries_of(exchange: Exchange) -> list[Entry]:
    listed = exchange.stored_manifest.entries
    rows = Source.objects.filter(pk__in={entry.source for entry in listed})
    known = {pk: (name, tokens) for pk, name, tokens in rows.values_list("pk", "name", "tokens")}
    return [
        Entry(entry.layer, known[entry.source][0], entry.source, known[entry.source][1], entry.lead is None)
        for entry in listed
    ]


def rows_of(lines: Sequence[Line]) -> Iterator[LedgerRow]:
    """A line each, and one for many turns in a row that share their layer and their mark."""
    turn = 0
    for (is_turn, layer, hit), group in groupby(lines, key=_alike):
        members = list(group)
        if is_turn and len(members) >= TOGETHER:
            yield row(f"turns {turn + 1} to {turn + len(members)}", layer, members, hit=hit)
        else:
            names = (spoken(one.entry.source, turn + n) for n, one in enumerate(members, 1))
            yield from (row(name, layer, [one], hit=hit) for name, one in zip(names, members, strict=True))
        turn += len(members) if is_turn else 0


def row(name: str, layer: str, members: Sequence[Line], *, hit: bool) -> LedgerRow:
    tokens = sum(one.entry.tokens for one in members)
    shown = texts.visible(name[0].upper() + name[1:])
    return LedgerRow(shown, layer, hit, members[0].entry.is_named, tokens, dollars(total(members)))


def total(lines: Sequence[Line]) -> Decimal | None:
    """The estimated cost of these lines; None when the price is unknown."""
    known = [line.usd for line in lines if line.usd is not None]
    return sum(known, Decimal(0)) if len(known) == len(lines) else None


def _alike(line: Line) -> tuple[bool, str, bool]:
    return line.entry.source.startswith("turn:"), line.entry.layer, line.is_hit
