"""The ledger of an exchange: the provider's count laid over its items, and its total beside what was paid."""

from collections.abc import Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

from sessions_app.audit.bookings import Counts, Finding
from sessions_app.audit.differences import MoneyFigure
from sessions_app.audit.rows import Row
from sessions_app.audit.shown import LedgerLine, ShownLedger

UNSEEN = 0
"""In the place of a source: what a named cache holds whose making nobody has seen."""


def ledger_findings(
    exchange: Row,
    before: Row | None,
    shown: ShownLedger,
    *,
    tokens: dict[int, int],
    names: dict[int, str],
    counts: Counts,
    paid: Decimal | None,
) -> Iterator[Finding]:
    """`tokens` are our estimates by source, `names` those of the sources; `paid` is the cost by
    the counts, None for no known price.
    """
    entries: list[Any] = exchange["manifest"].get("entries", [])
    is_counted = exchange["prompt_tokens"] is not None
    changes = _changes(before, entries, _respelled(exchange, [names[entry[0]] for entry in entries]))
    if is_counted and exchange["cache_name"] and all(entry[2] is not None for entry in entries):
        # Nobody was seen making the cache: all of it is one item, of what the estimates leave of the count.
        is_same = before is not None and before["cache_name"] == exchange["cache_name"]
        left = counts.prompt - sum(tokens[entry[0]] for entry in entries)
        entries, tokens = [(UNSEEN, "", None), *entries], tokens | {UNSEEN: max(1, left)}
        changes = ["unchanged" if is_same else "unknown", *changes]
    lines = _lines(entries, changes, tokens, counts if is_counted else None)
    yield MoneyFigure.LEDGER_ITEMS, list(shown.lines), lines
    yield MoneyFigure.LEDGER_TOTAL, shown.paid, paid
    if shown.summed is not None:
        yield MoneyFigure.LEDGER_TOTAL, shown.summed, paid


def _respelled(exchange: Row, names: Sequence[str]) -> int:
    """The leading items that say the same in whatever bytes, before the culprit of the break."""
    count: int = exchange["ledger"].get("prefix", 0)
    culprit = exchange["break_line"].get("source")
    return min(count, names.index(culprit)) if culprit in names else count


def _changes(before: Row | None, entries: Sequence[Any], respelled: int) -> list[str]:
    """Unchanged up to the first source that is another one; behind it the same ones are only moved. The first
    `respelled` ones say the same, perhaps in other bytes.
    """
    old = [entry[0] for entry in before["manifest"].get("entries", [])] if before else []
    found: list[str] = []
    is_same = True
    for at, (source, *_) in enumerate(entries):
        is_same = is_same and at < len(old) and old[at] == source
        is_said = before is not None and at < respelled
        found.append("unchanged" if is_same or is_said else "behind" if source in old else "new")
    return found


def _lines(
    entries: Sequence[Any], changes: Sequence[str], tokens: dict[int, int], counts: Counts | None
) -> list[LedgerLine]:
    sources = [entry[0] for entry in entries]
    if counts is None:
        return [LedgerLine(*one, "unknown", 0, 0) for one in zip(sources, changes, strict=True)]
    cached = min(counts.cached, counts.prompt)
    weights = [tokens[source] for source in sources]
    in_cache = [entry[2] is None for entry in entries]
    if cached and any(in_cache):
        held = _parts(
            [weight if named else 0 for weight, named in zip(weights, in_cache, strict=True)], cached
        )
        sent = [0 if named else weight for weight, named in zip(weights, in_cache, strict=True)]
        rest = _parts(weights if all(in_cache) else sent, counts.prompt - cached)
        shares = list(zip(held, rest, strict=True))
    else:
        shares = list(_from_the_front(_parts(weights, counts.prompt), cached))
    return [
        LedgerLine(source, change, _billed(*share), *share)
        for source, change, share in zip(sources, changes, shares, strict=True)
    ]


def _from_the_front(parts: Sequence[int], cached: int) -> Iterator[tuple[int, int]]:
    begin = 0
    for part in parts:
        inside = max(0, min(begin + part, cached) - begin)
        yield inside, part - inside
        begin += part


def _parts(weights: Sequence[int], total: int) -> list[int]:
    """Whole parts of `total` by weight; the largest fractions are rounded up, the first of equal ones."""
    whole = sum(weights)
    if not whole:
        return [0] * (len(weights) - 1) + [total] if weights else []
    exact = [Fraction(total * weight, whole) for weight in weights]
    parts = [int(share) for share in exact]
    order = sorted(range(len(parts)), key=lambda at: (parts[at] - exact[at], at))
    for at in order[: total - sum(parts)]:
        parts[at] += 1
    return parts


def _billed(cached: int, new: int) -> str:
    return {(True, True): "both", (True, False): "cached", (False, True): "new"}.get(
        (cached > 0, new > 0), "nothing"
    )
