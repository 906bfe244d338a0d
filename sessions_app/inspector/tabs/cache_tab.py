"""The cache tab: plan, verdict, break line, ledger and cost."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from itertools import groupby

from sessions_app.inspector import formatting
from sessions_app.inspector.source_titles import SourceTitles
from sessions_app.inspector.tabs.base import Tab
from sessions_app.models import CacheEntry, CacheEvent, Exchange, Price
from sessions_app.prompt.cache_life import CacheEventKind
from sessions_app.prompt.prefix_diff import Ledger, LedgerLine, ledger_lines
from sessions_app.prompt.pricing import Money, Rates, dollars
from sessions_app.wording import break_lines, cache_events, cache_plans, costs, strategies, verdicts

MIN_GROUP = 4
"""Consecutive turns of one layer and mark that share a line of the ledger from this number on."""

LONGEST_LIFE, EVENTS_READ = 12, 200
"""Lines that the life of an entry takes at most, and events that are read for them."""


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
    """The break line with visible control characters; the place stands once for each view. `has_body_place`:
    the wire tab shows it.
    """

    place: str
    in_layer: str
    in_body: str
    has_body_place: bool
    happened: str
    before: str
    was: str
    now: str
    loss: str


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
    """`entry` is the current row, which may have changed since the exchange."""

    plan: str
    reason: str
    strategy: str
    entry: CacheEntry | None
    is_named: bool
    broken: ShownBreak | None
    life: tuple[LifeRow, ...]
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
            life=life_of(exchange),
            ledger=ledger_of(exchange, rates),
            equation=costs.equation(Money.restored(exchange.money)),
            price=exchange.price,
        )


def entry_of(exchange: Exchange) -> CacheEntry | None:
    if not exchange.fingerprint:
        return None
    return CacheEntry.objects.filter(fingerprint=exchange.fingerprint).first()


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
        what=cache_events.event(last.kind, len(events)),
        numbers=tuple(dict.fromkeys((ours[0], ours[-1]))) if ours else (),
        expires=last.expires,
        why=formatting.visible(cache_events.reason(last.reason, last.said)),
    )


def _told_alike(event: CacheEvent) -> object:
    """Whoever only names or extends a cache again is told in the line before."""
    repeats = event.kind in (CacheEventKind.NAMED, CacheEventKind.EXTENDED)
    return (event.kind, event.name) if repeats else event.pk


def break_of(exchange: Exchange) -> ShownBreak | None:
    line = exchange.found_break
    if line is None:
        return None
    verdict = exchange.found_verdict
    rolled = verdict.seen.rolled if verdict and verdict.seen else None
    at, is_translated = line.at, exchange.is_translated
    return ShownBreak(
        place=formatting.visible(break_lines.place(line)),
        in_layer=break_lines.place_in_layer(at) if at else "",
        in_body=break_lines.place_in_body(at, is_translated=is_translated) if at else "",
        has_body_place=at is not None and at.body_byte is not None and not is_translated,
        happened=formatting.visible(verdicts.rolled_over(rolled) if rolled else break_lines.change(line)),
        before=formatting.visible(line.before),
        was=formatting.visible(line.was),
        now=formatting.visible(line.now),
        loss=break_lines.loss(exchange.loss),
    )


def ledger_of(exchange: Exchange, rates: Rates | None) -> ShownLedger | None:
    totals = Ledger.restored(exchange.ledger)
    if totals is None:
        return None
    lines = ledger_lines(exchange.ledger_entries(), totals.prefix, rates)
    titles = SourceTitles(exchange.session_id, [line.entry.source for line in lines])
    return ShownLedger(
        totals,
        tuple(rows_of(lines, titles)),
        *(dollars(total([line for line in lines if line.is_hit is hit])) for hit in (True, False)),
    )


def rows_of(lines: Sequence[LedgerLine], titles: SourceTitles) -> Iterator[LedgerRow]:
    """One row for each line, or for a group of at least `MIN_GROUP` turns."""
    for (is_turn, layer, hit), group in groupby(lines, key=_alike):
        members = list(group)
        if is_turn and len(members) >= MIN_GROUP:
            yield row(titles.span([one.entry.source for one in members]), layer, members, hit=hit)
        else:
            yield from (row(titles.title(one.entry.source), layer, [one], hit=hit) for one in members)


def row(name: str, layer: str, members: Sequence[LedgerLine], *, hit: bool) -> LedgerRow:
    tokens = sum(one.entry.tokens for one in members)
    return LedgerRow(
        formatting.visible(name), layer, hit, members[0].entry.is_named, tokens, dollars(total(members))
    )


def total(lines: Sequence[LedgerLine]) -> Decimal | None:
    """The estimated cost of these lines; None when the price is unknown."""
    known = [line.usd for line in lines if line.usd is not None]
    return sum(known, Decimal(0)) if len(known) == len(lines) else None


def _alike(line: LedgerLine) -> tuple[bool, str, bool]:
    return line.entry.source.startswith("turn:"), line.entry.layer, line.is_hit
