"""What would have saved money, added up again: each loss by its cause, and caches that did not pay."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import datetime
from decimal import ROUND_HALF_EVEN, Decimal

from sessions_app.audit import money
from sessions_app.audit.bookings import NO_MONEY, Finding
from sessions_app.audit.cache_life import CacheRows, Fate
from sessions_app.audit.compared import compared_with
from sessions_app.audit.culprits import are_signed_otherwise
from sessions_app.audit.differences import MoneyFigure
from sessions_app.audit.losses import loss_of, money_of
from sessions_app.audit.minimums import minimum_of
from sessions_app.audit.rows import Row, SessionRows
from sessions_app.audit.shown import SavedBy, ShownSession
from sessions_app.audit.static_layers import static_change
from sessions_app.audit.verdicts import ENDED, LIFE, Case, served_by_several
from sessions_app.models import Booking, CacheEvent, Exchange

TOLD_BY_THE_REASON = {
    "cache_gone": "provider", "cache_lost": "provider", "unexplained": "provider",
    "named_not_counted": "provider", "named": "named_less", "too_short": "below_minimum",
    "earlier_too_short": "below_minimum", "other_model": "other_model", "other_route": "other_model",
    "served_by_another": "other_model", "other_settings": "settings", "other_tools": "tools",
    "time_passed": "implicit_life", "ran_out": "explicit_life", "dropped": "let_go",
    "rolled_over": "rolled_over", "continued": "continued",
}  # fmt: skip

TOLD_BY_THE_STATIC_LAYER = {
    "tools": "tools",
    "text": "system_text",
    "rolled_over": "rolled_over",
    "other_history": "history",
}

BEFORE_THE_SAME = ("tools", "system_text", "context_first", "order", "signature", "history")
BY_A_PERSON = ("replaced", "shortened", "unknown")

Groups = defaultdict[str, list[tuple[int, Decimal | None]]]
"""Cause → tokens and money, one pair for each request."""

OVER = ("deleted", "expired", "gone")


def saving_findings(rows: SessionRows, shown: ShownSession) -> Iterator[Finding]:
    found = {*_by_cause(rows), *_of_caches(rows, shown.at)}
    yield MoneyFigure.SESSION_SAVINGS, set(shown.savings), found
    yield MoneyFigure.SESSION_MISSED, set(shown.missed), set(_missed(rows))


def _by_cause(rows: SessionRows) -> Iterator[SavedBy]:
    caches = CacheRows(rows)
    groups: Groups = defaultdict(list)
    for exchange in _counted(rows):
        tokens, usd = loss_of(rows, exchange)
        if tokens:
            groups[_cause(rows, caches, exchange)].append((tokens, usd))
    yield from _summed(groups)


def _missed(rows: SessionRows) -> Iterator[SavedBy]:
    """What was sent again behind a change, and at most could have come from a cache."""
    caches = CacheRows(rows)
    groups: Groups = defaultdict(list)
    for exchange in _counted(rows):
        line = exchange["break_line"]
        tokens = _sent_again(rows, exchange) if line and line["kind"] not in BY_A_PERSON else 0
        cause = _cause(rows, caches, exchange) if tokens else ""
        if cause in BEFORE_THE_SAME:
            groups[cause].append((tokens, money_of(rows, exchange, tokens)))
    yield from _summed(groups)


def _sent_again(rows: SessionRows, exchange: Row) -> int:
    before, minimum = compared_with(rows, exchange), minimum_of(rows, exchange)
    lost = loss_of(rows, exchange)[0]
    if before is None or lost is None or not minimum or (before["prompt_tokens"] or 0) < minimum:
        return 0
    if before["cache_name"]:
        return 0  # Beside a named cache nothing is kept.
    idle = exchange["started_at"] - (before["ended_at"] or before["started_at"])
    if idle.total_seconds() > LIFE:
        return 0
    repeated: int = min(before["prompt_tokens"], exchange["prompt_tokens"])
    return max(0, repeated - (exchange["cached_tokens"] or 0) - lost)


def _counted(rows: SessionRows) -> list[Row]:
    return [one for one in rows.exchanges if one["prompt_tokens"] is not None and one["verdict"]]


def _summed(groups: Groups) -> Iterator[SavedBy]:
    for cause, losses in groups.items():
        known = [usd for _, usd in losses if usd is not None]
        tokens = sum(tokens for tokens, _ in losses)
        yield SavedBy(cause, len(losses), tokens, sum(known, NO_MONEY), len(losses) - len(known))


def _cause(rows: SessionRows, caches: CacheRows, exchange: Row) -> str:
    if not exchange["verdict_figures"]:
        return "unknown"
    case = Case(caches, exchange)
    reason, before = case.reason(), compared_with(rows, exchange)
    if reason in TOLD_BY_THE_REASON:
        return TOLD_BY_THE_REASON[reason]
    if before is None:
        return "provider"
    if reason in ("layer_changed", "history_rewritten"):
        return _changed(rows, before, exchange)
    if reason == "never_caches":
        return "never_caches" if case.asks_same(before) else "other_model"
    return _less(rows, case, before)


def _less(rows: SessionRows, case: Case, before: Row) -> str:
    """Why a request was served less, but not nothing."""
    exchange = case.exchange
    if not case.asks_same(before) or served_by_several(before, exchange):
        return "other_model"
    return _changed(rows, before, exchange) if exchange["break_line"] else _unchanged(case.fate(before))


def _unchanged(fate: Fate | None) -> str:
    """Why less of an unchanged beginning was served, but not nothing."""
    ended = ENDED.get(fate.end, "") if fate else ""
    return TOLD_BY_THE_REASON.get(ended, "provider")


def _changed(rows: SessionRows, before: Row, exchange: Row) -> str:
    old, new = rows.items(before), rows.items(exchange)
    change, line = static_change(old, new), exchange["break_line"]
    if change in TOLD_BY_THE_STATIC_LAYER:
        return TOLD_BY_THE_STATIC_LAYER[change]
    if not line or line["kind"] == "unknown":
        return "unknown"
    if line["source"] == "tools":
        return "tools"
    if line["kind"] == "moved":
        return "order"
    was, now = ([item for item in items if item.name == line["source"]] for items in (old, new))
    layer = (now or was)[0].layer
    if layer in ("static", "dynamic"):
        return {"static": "system_text", "dynamic": "context_first"}[layer]
    return "signature" if was and now and are_signed_otherwise(was[0], now[0]) else "history"


def _of_caches(rows: SessionRows, at: datetime) -> Iterator[SavedBy]:
    """One line for all caches of which the session paid more than all requests can have saved by them."""
    caused = Booking.objects.filter(session=rows.session_id, cause__in=("cache_made", "cache_kept"))
    names = set(caused.exclude(cache_name="").values_list("cache_name", flat=True))
    found = [_wasted(rows, name, at) for name in sorted(names)]
    wasted = [(uses, usd) for uses, usd in found if usd > 0]
    if wasted:
        usd = sum((usd for _, usd in wasted), NO_MONEY)
        yield SavedBy("hardly_used", sum(uses for uses, _ in wasted), 0, usd, 0)


def _wasted(rows: SessionRows, name: str, at: datetime) -> tuple[int, Decimal]:
    """The uses of one cache, and what the session paid in vain; nothing while that is not known."""
    events = list(CacheEvent.objects.filter(name=name).order_by("at", "pk").values())
    used = [row["exchange_id"] for row in events if row["kind"] == "named"]
    if not _is_over(events, at):
        return len(used), NO_MONEY
    own = rest = NO_MONEY
    for session, usd in Booking.objects.filter(cache_name=name).values_list("session", "usd"):
        if usd is None:
            return len(used), NO_MONEY
        own, rest = own + (usd if session == rows.session_id else 0), rest + usd
    for pk in used:
        saved = _saved(rows, pk)
        if saved is None:
            return len(used), NO_MONEY
        rest -= saved
    return len(used), min(own, rest)


def _is_over(events: Sequence[Row], at: datetime) -> bool:
    ends = [row["expires"] for row in events if row["expires"] is not None]
    return any(row["kind"] in OVER for row in events) or (bool(ends) and ends[-1] <= at)


def _saved(rows: SessionRows, exchange: int | None) -> Decimal | None:
    """What the cached tokens of a request would have cost more as new ones."""
    columns = ("price_id", "prompt_tokens", "cached_tokens")
    found = Exchange.objects.filter(pk=exchange or 0).values(*columns).first()
    price = rows.prices.get(found["price_id"] or 0) if found else None
    if found is None or price is None or found["cached_tokens"] is None:
        return None
    prompt = found["prompt_tokens"] or 0
    difference: Decimal = money.rate(price, "input", prompt) - money.rate(price, "cached", prompt)
    saved: Decimal = found["cached_tokens"] * difference / 1_000_000
    return saved.quantize(money.CENTS, ROUND_HALF_EVEN)
