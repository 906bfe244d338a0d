"""The break of a request: its place, its culprit and the tokens before it, by the items of both requests."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from sessions_app.audit.compared import compared_with
from sessions_app.audit.culprits import Culprit, culprits_of
from sessions_app.audit.differences import Figure, Finding
from sessions_app.audit.prefix import TEXT, grown_item, parting
from sessions_app.audit.rows import Row, SessionRows, StoredItem


def break_findings(rows: SessionRows, exchange: Row) -> Iterator[Finding]:
    """Where the request was compared: a failed one is not."""
    before = compared_with(rows, exchange)
    if before is None or before["payload_purged_at"] is not None or not exchange["ledger"]:
        return
    old, new = rows.items(before), rows.items(exchange)
    line: dict[str, Any] = exchange["break_line"]
    at = line.get("at")
    if line and at is None:
        # A row of an earlier version, which counted other places.
        return
    stored = (at["item"], at["part"], at["char"]) if at else None
    found = parting(old, new)
    yield Figure.BREAK_PLACE, stored, tuple(found.now) if found else None
    if at and found and found.now == stored and new[at["item"]].kind == TEXT:
        yield Figure.BREAK_BYTES, at["char"], _chars_before(at, new)
    if line and found:
        blamed, allowed = Culprit(line["kind"], line["source"]), culprits_of(old, new, found)
        yield Figure.CULPRIT, blamed, blamed if blamed in allowed else min(allowed)
    seen = exchange["verdict_figures"].get("seen")
    if seen:
        counted, tokens = seen["prefix_tokens"], [item.tokens for item in new]
        item = found.now.item if found else grown_item(old, new)
        low, high = _bounds(tokens, item) if item is not None else (sum(tokens[: len(old)]), sum(tokens))
        yield Figure.PREFIX_TOKENS, counted, min(max(counted, low), high)


def _chars_before(at: dict[str, Any], items: Sequence[StoredItem]) -> int | None:
    """The characters of a text before the byte of its layer that `at` names; None within an escape."""
    item = items[at["item"]]
    ahead = sum(len(one.body) for one in items[: at["item"]] if one.layer == item.layer)
    try:
        return len(json.loads(b'"' + item.body[: at["layer_byte"] - ahead] + b'"'))
    except ValueError:
        return None


def _bounds(tokens: Sequence[int], item: int) -> tuple[int, int]:
    """The items before the one within which the prefix ends, without and with it: its share lies between."""
    return sum(tokens[:item]), sum(tokens[: item + 1])
