"""The money of one session: its bookings, the ledgers of its requests, its sums."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from sessions_app.audit.answers import Answer, answer_of
from sessions_app.audit.bookings import (
    NO_MONEY,
    BookingRows,
    Finding,
    counts_of,
    exchange_findings,
    searched_by,
    side_findings,
)
from sessions_app.audit.cache_bookings import CacheBookings, cache_findings, caches_of, left_caches
from sessions_app.audit.compared import compared_with
from sessions_app.audit.differences import Difference
from sessions_app.audit.ledger import ledger_findings
from sessions_app.audit.prices import PriceRows
from sessions_app.audit.rows import Row, SessionRows
from sessions_app.audit.savings import saving_findings
from sessions_app.audit.shown import ShownSession
from sessions_app.audit.spending import session_findings


def audit_money(
    session_id: int, public: str, shown: ShownSession, *, ahead: timedelta = timedelta()
) -> Iterator[Difference]:
    """`ahead`: as much the provider's clock may be before ours."""
    rows, tables = SessionRows(session_id), PriceRows()
    booked = BookingRows(session_id, tables)
    for exchange in rows.exchanges:
        found = _exchange_money(rows, booked, exchange, shown) if exchange["ended_at"] else ()
        yield from _differences(public, exchange["number"], found)
    for name in caches_of(session_id):
        yield from _differences(public, 0, cache_findings(CacheBookings(name, tables, ahead)))
    yield from _differences(public, 0, side_findings(booked))
    yield from _differences(public, 0, session_findings(booked, rows.exchanges, shown))
    # Why something was lost is found in the bytes.
    if not any(exchange["payload_purged_at"] for exchange in rows.exchanges):
        yield from _differences(public, 0, saving_findings(rows, shown))


def audit_left_caches() -> Iterator[Difference]:
    """The caches that no session pays for: of erased ones, and what an admin had extended."""
    tables = PriceRows()
    for cache in left_caches(tables):
        yield from _differences(cache.name, 0, cache_findings(cache))


def _exchange_money(
    rows: SessionRows, booked: BookingRows, exchange: Row, shown: ShownSession
) -> Iterator[Finding]:
    is_purged = exchange["payload_purged_at"] is not None
    answer = _kept(booked, exchange) if is_purged else _received(rows, exchange)
    yield from exchange_findings(booked, exchange, answer)
    ledger = shown.ledgers.get(exchange["number"])
    if ledger is not None and not is_purged:
        own = booked.by_exchange.get(exchange["id"]) or booked.elsewhere(exchange)
        price = booked.tables.prices.get(own[0]["price_id"] or 0) if own else None
        counts = counts_of(exchange, answer)
        tokens = {key: source["tokens"] for key, source in rows.sources.items()}
        names = {key: source["name"] for key, source in rows.sources.items()}
        searched = searched_by(booked.tables, exchange, own[0], answer).usd if own else NO_MONEY
        paid = counts.cost(price, searched) if price else None
        before = compared_with(rows, exchange)
        facts: dict[str, Any] = {"tokens": tokens, "names": names, "counts": counts, "paid": paid}
        yield from ledger_findings(exchange, before, ledger, **facts)


def _received(rows: SessionRows, exchange: Row) -> Answer:
    return answer_of(rows.chunks(exchange) if exchange["dialect"] == "gemini" else ())


def _kept(booked: BookingRows, exchange: Row) -> Answer:
    """What the row still says of an answer whose chunks were purged; whether one came, its booking tells."""
    is_booked = exchange["id"] in booked.by_exchange
    return Answer(
        usage=exchange["usage"],
        model=exchange["served_model"],
        finish_reason=exchange["finish_reason"],
        has_parts=is_booked,
        is_blocked=exchange["outcome"] == "blocked",
        kept_searches=exchange["searches"] or 0,
    )


def _differences(public: str, number: int, found: Iterator[Finding] | tuple[()]) -> Iterator[Difference]:
    for figure, stored, right in found:
        if stored != right:
            yield Difference(public, number, figure, stored, right)
