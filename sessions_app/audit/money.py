"""The cost of an exchange: the provider's counts times the columns of the price row that it names."""

from decimal import ROUND_HALF_EVEN, Decimal

from sessions_app.audit.rows import Row

CENTS = Decimal("0.00000001")


def rate(price: Row, kind: str, prompt: int) -> Decimal:
    """US dollars per million tokens; above the threshold the second tier holds for the whole prompt."""
    second = price[f"{kind}_above"] if price["above"] is not None and prompt > price["above"] else None
    found: Decimal = price[kind] if second is None else second
    return found


def cost(
    price: Row, prompt: int, cached: int, tool_use: int, output: int, *, searched: Decimal = Decimal(0)
) -> Decimal:
    """`output` includes thoughts. `prompt` includes `cached`. `searched` are dollars."""
    cached = min(cached, prompt)
    millionths = (
        (prompt - cached + tool_use) * rate(price, "input", prompt)
        + cached * rate(price, "cached", prompt)
        + output * rate(price, "output", prompt)
    )
    return (millionths / 1_000_000 + searched).quantize(CENTS, ROUND_HALF_EVEN)


def charged(price: Row | None, queries: int) -> tuple[int, Decimal]:
    """Searches as they are charged, and their dollars: nothing where no price is known."""
    if price is None:
        return queries, Decimal(0)
    count = min(1, queries) if price["per"] == "prompt" else queries
    return count, count * Decimal(price["usd"]) / 1_000
