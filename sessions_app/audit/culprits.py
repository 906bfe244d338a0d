"""Whether the source that a break line blames did what the line says, by the items of both requests."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from sessions_app.audit.compared import compared_with
from sessions_app.audit.differences import Figure, Finding
from sessions_app.audit.prefix import TEXT, meaning, parting
from sessions_app.audit.rows import Row, SessionRows, StoredItem

FRAMES = "template:"
"""Sources whose text depends on which others there are."""


def break_findings(rows: SessionRows, exchange: Row) -> Iterator[Finding]:
    """The place and the culprit, where the request was compared: a failed one is not."""
    before = compared_with(rows, exchange)
    if before is None or not exchange["ledger"]:
        return
    old, new = rows.items(before), rows.items(exchange)
    line: dict[str, Any] = exchange["break_line"]
    at = line.get("at")
    if line and at is None:
        # A row of an earlier version, which counted other places.
        return
    stored = (at["item"], at["part"], at["char"]) if at else None
    found = parting(old, new)
    yield Figure.BREAK_PLACE, stored, tuple(found) if found else None
    if at and found == stored and new[at["item"]].kind == TEXT:
        yield Figure.BREAK_BYTES, at["char"], _chars_before(at, new)
    if line:
        allowed = what_happened(line["source"], old, new)
        yield Figure.CULPRIT, line["kind"], line["kind"] if line["kind"] in allowed else sorted(allowed)
    seen = exchange["verdict_figures"].get("seen")
    if seen:
        counted, tokens = seen["prefix_tokens"], [item.tokens for item in new]
        low, high = _bounds(tokens, found.item) if found else (sum(tokens[: len(old)]), sum(tokens))
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
    """The items before the broken one, without and with it: the estimate of its share lies between."""
    return sum(tokens[:item]), sum(tokens[: item + 1])


def what_happened(name: str, old: Sequence[StoredItem], new: Sequence[StoredItem]) -> set[str]:
    """The kinds that a break line may give to the source of this name."""
    was, now = ([item for item in items if item.name == name] for items in (old, new))
    if not was and not now:
        return {"unknown"}
    if not now:
        return {"gone", "shortened"}
    if not was:
        return {"appeared", "replaced"} if name.startswith("turn:") else {"appeared"}
    said, says = {meaning(item) for item in was}, {meaning(item) for item in now}
    if not said & says:
        return {"changed", "changed_and_moved"}
    if said == says:
        return {"moved"} if _order(old, new) != _order(new, old) else {"unchanged"}
    return {"changed", "changed_and_moved", "moved"}


def _order(one: Sequence[StoredItem], other: Sequence[StoredItem]) -> list[str]:
    """The names that both have, in the order of `one`."""
    names = {item.name for item in other}
    return [item.name for item in one if item.name in names and not item.name.startswith(FRAMES)]
