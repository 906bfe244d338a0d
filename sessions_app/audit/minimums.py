"""The shortest prefix that a model caches of its own accord, by documentation and the rows of model facts."""

from collections.abc import Iterator

from sessions_app.audit.differences import Figure, Finding
from sessions_app.audit.prices import base_name
from sessions_app.audit.rows import Row, SessionRows

DOCUMENTED = {"gemini-2.5": 2_048, "gemini-": 4_096}
"""Tokens by how a model's name begins, the longest beginning first (the provider's page on caching, October
2026)."""

OTHERS = 4_096
"""For a model of another name that a row of facts lists."""


def minimum_of(rows: SessionRows, exchange: Row) -> int:
    """Tokens, 0 for a model that is not known to cache by itself.

    A name that is routed elsewhere counts as the model that had answered to it until then. Facts that were
    changed after the request are not those that it was judged by, and no row keeps the earlier ones: then
    the exchange's own figure has to do.
    """
    asked = base_name(exchange["model"])
    base = base_name(_served_before(rows, exchange)) or asked
    applying = [row for row in rows.model_facts if _applies(row, base)]
    if any(row["updated_at"] > exchange["started_at"] for row in applying):
        stated: int = exchange["verdict_figures"].get("minimum") or 0
        return stated
    entered = [row["implicit_minimum"] for row in applying if row["implicit_minimum"] is not None]
    if entered:
        newest: int = entered[-1]
        return newest
    documented = (tokens for begin, tokens in DOCUMENTED.items() if base.startswith(begin))
    return next(documented, OTHERS if applying else 0)


def minimum_findings(rows: SessionRows, exchange: Row) -> Iterator[Finding]:
    """Compares the minimum of each verdict that was decided by a count."""
    figures = exchange["verdict_figures"]
    if not exchange["earlier_wording"] and figures.get("prompt") is not None:
        yield Figure.IMPLICIT_MINIMUM, figures.get("minimum"), minimum_of(rows, exchange)


def _applies(row: Row, base: str) -> bool:
    return bool(base.startswith(row["model"]) if row["is_family"] else base == row["model"])


def _served_before(rows: SessionRows, exchange: Row) -> str:
    """What the newest earlier answer to this name at this endpoint names as its model."""
    endpoint = exchange["route"].partition("/")[0] + "/"
    for one in reversed(rows.exchanges):
        is_same = one["model"] == exchange["model"] and one["route"].startswith(endpoint)
        if one["number"] < exchange["number"] and is_same and one["served_model"]:
            name: str = one["served_model"]
            return name
    return ""
