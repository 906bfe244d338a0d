"""What an exchange lost: tokens that no cache served any more, at the difference of the rates."""

from collections.abc import Iterator
from decimal import Decimal

from sessions_app.audit import money
from sessions_app.audit.compared import compared_with
from sessions_app.audit.differences import Figure, Finding
from sessions_app.audit.rows import Row, SessionRows


def loss_findings(rows: SessionRows, exchange: Row) -> Iterator[Finding]:
    if exchange["ended_at"] is None or not exchange["verdict"]:
        return
    tokens, usd = loss_of(rows, exchange)
    yield Figure.LOST_TOKENS, exchange["lost_tokens"], tokens
    yield Figure.LOST_USD, exchange["lost_usd"], usd


def loss_of(rows: SessionRows, exchange: Row) -> tuple[int | None, Decimal | None]:
    """Unknown without counts, and where nobody knows why; nothing for the first request of a branch."""
    before = compared_with(rows, exchange)
    was_cached = before["cached_tokens"] if before else 0
    prompt, cached = exchange["prompt_tokens"], exchange["cached_tokens"]
    if exchange["verdict"] == "unknown" or None in (was_cached, prompt, cached):
        return None, None
    tokens = max(0, min(was_cached, prompt) - cached)
    return tokens, money_of(rows, exchange, tokens)


def money_of(rows: SessionRows, exchange: Row, tokens: int) -> Decimal | None:
    """What they cost more as new input than from a cache; unknown without a price."""
    price, prompt = rows.prices.get(exchange["price_id"] or 0), exchange["prompt_tokens"]
    if price is None:
        return None if tokens else Decimal(0)
    difference = money.rate(price, "input", prompt) - money.rate(price, "cached", prompt)
    return (tokens * difference / 1_000_000).quantize(money.CENTS)
