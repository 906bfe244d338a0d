"""The verdict of an exchange, decided a second time from its rows and those of the one before it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from itertools import takewhile
from typing import Any

from sessions_app.audit.cache_life import CacheRows, Fate
from sessions_app.audit.compared import compared_with
from sessions_app.audit.cut_off import is_cut_off, is_unanswered, reason_without_answer
from sessions_app.audit.differences import Figure, Finding
from sessions_app.audit.minimums import minimum_of
from sessions_app.audit.rows import Row, SessionRows
from sessions_app.audit.static_layers import static_change

LIFE = 300
"""Seconds after which time explains a miss."""

SHARE = 0.9
"""Share of a prefix that counts as all of it."""

CODES = {
    "cache_gone": "cache_lost", "no_usage": "unknown", "not_answered": "unknown", "cut_off": "unknown",
    "unreadable": "unknown",
    "named": "hit", "whole_prefix": "hit", "part_of_prefix": "partial", "anothers_prefix": "partial",
    "named_not_counted": "provider_miss", "nothing_before": "first", "never_caches": "unsupported",
    "too_short": "below_minimum", "earlier_too_short": "below_minimum", "other_model": "model_changed",
    "other_settings": "config_changed", "other_tools": "config_changed", "history_rewritten": "shortened",
    "layer_changed": "layer_changed", "served_by_another": "model_changed", "time_passed": "ttl_likely",
    "continued": "continued", "ran_out": "cache_expired", "cache_lost": "cache_lost", "dropped": "our_drop",
    "rolled_over": "our_rollover", "other_route": "model_changed", "not_recorded": "unknown",
    "unexplained": "provider_miss", "near_minimum": "unknown",
    "not_compared": "unknown",
}  # fmt: skip
"""By reason the code of the verdict."""

OF_PREVIOUS = {"earlier_too_short", "other_tools", "layer_changed", "history_rewritten", "rolled_over"}
"""Reasons that may hold for the previous exchange only: another one may have sent the same beginning."""

IN_PLACE = ("changed", "signed_otherwise")

NEWEST = 50
"""Exchanges at most among which such an earlier one is looked for."""

ENDED = {"expired": "ran_out", "gone": "cache_lost", "dropped": "dropped", "unused": "dropped"}

STATIC = {
    "same": "other_route", "tools": "other_tools", "text": "layer_changed", "rolled_over": "rolled_over",
    "other_history": "history_rewritten", "unknown": "not_recorded",
}  # fmt: skip


def verdict_findings(caches: CacheRows, exchange: Row) -> Iterator[Finding]:
    """Nothing of an open exchange, and of a row of an earlier version, which has no figures."""
    if exchange["ended_at"] is None or exchange["earlier_wording"]:
        return
    figures = exchange["verdict_figures"]
    reason = Case(caches, exchange).reason() if figures else "cut_off"
    stored = exchange["verdict"], figures.get("reason", "cut_off")
    yield Figure.VERDICT, stored, (CODES[reason], reason)


@dataclass(frozen=True, slots=True)
class Case:
    """An exchange with all that its verdict is decided from."""

    caches: CacheRows
    exchange: Row

    @property
    def rows(self) -> SessionRows:
        return self.caches.rows

    @property
    def before(self) -> Row | None:
        return compared_with(self.rows, self.exchange)

    @property
    def minimum(self) -> int:
        return minimum_of(self.rows, self.exchange)

    def reason(self) -> str:
        exchange = self.exchange
        if not exchange["outcome"]:
            return self._refused()
        if is_cut_off(self.rows, exchange):
            return "cut_off"
        if is_unanswered(self.rows, exchange):
            return reason_without_answer(self.rows, exchange)
        if exchange["prompt_tokens"] is None:
            return "no_usage"
        if self.before is not None and self.before["payload_purged_at"] is not None:
            return "not_compared"
        return self._hit() if exchange["cached_tokens"] else self._unserved()

    def _unserved(self) -> str:
        if self.exchange["cache_name"]:
            return "named_not_counted"
        return "continued" if self.exchange["continues_id"] is not None else self._miss()

    def _refused(self) -> str:
        exchange = self.exchange
        if exchange["error"].get("kind") != "CacheGone":
            return reason_without_answer(self.rows, exchange)
        name, until = exchange["cache_name"], exchange["ended_at"]
        events = self.caches.events.get(exchange["fingerprint"], ())
        since = next((event["at"] for event in events if event["name"] == name), until)
        fate = self.caches.fate(exchange["fingerprint"], since, until, name)
        return ENDED[fate.end] if fate and fate.end in ("expired", "dropped") else "cache_gone"

    def _hit(self) -> str:
        exchange, seen = self.exchange, self.exchange["verdict_figures"].get("seen")
        if exchange["cache_name"]:
            return "named"
        if self.before is None or not self.asks_same(self.before):
            return "anothers_prefix"
        if exchange["cached_tokens"] >= SHARE * self.scaled(seen) and not exchange["break_line"]:
            return "whole_prefix"
        return "anothers_prefix" if exchange["cached_tokens"] > self._most(seen) else "part_of_prefix"

    def scaled(self, seen: dict[str, Any] | None) -> int:
        tokens = sum(item.tokens for item in self.rows.items(self.exchange))
        if not seen or not tokens:
            return 0
        share: int = round(seen["prefix_tokens"] * self.exchange["prompt_tokens"] / tokens)
        return share

    def _miss(self) -> str:
        before = self.before
        if before is None:
            return "nothing_before"
        reason = self._since(before, self.exchange["verdict_figures"].get("seen"), self.asks_same(before))
        if reason == "other_model":
            earlier = self._same_model_before()
        elif reason in OF_PREVIOUS and self._is_without_cache(before):
            earlier = self._closest_before()
        else:
            return reason
        if earlier is None or earlier["id"] == before["id"]:
            return reason
        fate = self.fate(earlier)
        again = {"prefix_tokens": self._equal_tokens(earlier)}
        if (fate is not None and fate.end != "other_bytes") or 0 < self.minimum <= self._least(again):
            return self._since(earlier, again, is_same=True, is_again=True)
        return "near_minimum" if 0 < self.minimum <= self._most(again) else reason

    def _is_without_cache(self, before: Row) -> bool:
        fate = self.fate(before)
        return fate is None or fate.end == "other_bytes"

    def _least(self, seen: dict[str, Any] | None) -> float:
        """Tokens that stayed the same, if the provider counts a tenth less of them than we do."""
        return self.exchange["prompt_tokens"] if self._is_whole(seen) else SHARE * self.scaled(seen)

    def _most(self, seen: dict[str, Any] | None) -> float:
        return self.exchange["prompt_tokens"] if self._is_whole(seen) else self.scaled(seen) / SHARE

    def _is_whole(self, seen: dict[str, Any] | None) -> bool:
        tokens = sum(item.tokens for item in self.rows.items(self.exchange))
        return seen is not None and seen["prefix_tokens"] >= tokens

    def _since(self, before: Row, seen: dict[str, Any] | None, is_same: bool, is_again: bool = False) -> str:
        """Our doing first, then the provider's rules, then the clock, then the provider."""
        fate = self.fate(before)
        if fate is not None:
            return self._uncached(before, fate, is_same, is_again)
        line = {} if is_again else self.exchange["break_line"]
        if line and self._least(seen) >= self.minimum:
            line = {}
        is_near = bool(line) and self._most(seen) >= self.minimum
        return next(self._explanations(before, seen, line, is_same, is_near))

    def _explanations(
        self, before: Row, seen: dict[str, Any] | None, line: dict[str, Any], is_same: bool, is_near: bool
    ) -> Iterator[str]:
        """Every reason that holds without an explicit cache, in order.

        `line` is an early break; `is_near` if it may be too late to explain a miss.
        """
        exchange, minimum = self.exchange, self.minimum
        if not minimum:
            yield "never_caches"
        if exchange["prompt_tokens"] < minimum:
            yield "too_short"
        if not is_same:
            yield "other_model"
        if is_near:
            yield "near_minimum"
        if line:
            yield self._changed(before, line)
        if differ_in_settings(self.rows.settings(before), self.rows.settings(exchange)):
            yield "other_settings"
        yield from self._not_ours(before, seen)

    def _not_ours(self, before: Row, seen: dict[str, Any] | None) -> Iterator[str]:
        exchange, minimum = self.exchange, self.minimum
        if before["prompt_tokens"] is not None and before["prompt_tokens"] < minimum:
            yield "earlier_too_short"
        if max(SHARE * (before["prompt_tokens"] or 0), self.scaled(seen)) < minimum:
            yield "near_minimum"
        if served_by_several(before, exchange):
            yield "served_by_another"
        idle = exchange["started_at"] - (before["ended_at"] or before["started_at"])
        yield "time_passed" if idle.total_seconds() > LIFE else "unexplained"

    def _changed(self, before: Row, line: dict[str, Any]) -> str:
        change = static_change(self.rows.items(before), self.rows.items(self.exchange))
        if change not in ("same", "unknown"):
            return STATIC[change]
        if line["source"] == "tools":
            return "other_tools"
        is_turn = line["source"].startswith("turn:")
        return "history_rewritten" if is_turn and line["kind"] not in IN_PLACE else "layer_changed"

    def _uncached(self, before: Row, fate: Fate, is_same: bool, is_again: bool) -> str:
        if fate.end != "other_bytes":
            return ENDED.get(fate.end, "not_recorded")
        if not is_same:
            return "other_model"
        items = [self.rows.items(one) for one in (before, self.exchange)]
        return STATIC["same" if is_again else static_change(*items)]

    def fate(self, before: Row) -> Fate | None:
        """The fate, since `before` was sent, of the cache that the request might have named."""
        exchange = self.exchange
        if before["cache_action"] in ("", "none", "drop", "unknown") and not before["cache_name"]:
            return None
        since, until = before["started_at"], exchange["started_at"]
        own = self.caches.fate(exchange["fingerprint"], since, until)
        if own is not None and own.end != "lives":
            return own
        if own is not None:
            is_unnamed = exchange["plan_figures"].get("reason") in ("waived", "not_offered", "client")
            return Fate(own.name, "unused", "", None) if is_unnamed else None
        earlier = self.caches.fate(before["fingerprint"], since, until)
        if earlier is None and not before["cache_name"]:
            return None
        end = "other_bytes" if before["fingerprint"] != exchange["fingerprint"] else "unknown"
        return Fate(before["cache_name"], end, "", None)

    def asks_same(self, other: Row) -> bool:
        exchange = self.exchange
        if other["route"].partition("/")[0] != exchange["route"].partition("/")[0]:
            return False
        served = _base(exchange["served_model"])
        return other["model"] == exchange["model"] or bool(served and served == _base(other["served_model"]))

    def _same_model_before(self) -> Row | None:
        return next(self._asked_before(), None)

    def _asked_before(self) -> Iterator[Row]:
        """Newest first."""
        kept = [one for one in self.rows.exchanges if one["payload_purged_at"] is None]
        for one in reversed(kept):
            if one["number"] < self.exchange["number"] and one["prompt_tokens"] and self.asks_same(one):
                yield one

    def _closest_before(self) -> Row | None:
        """The newest request with the most equal items, within the life of an implicit cache."""
        since = self.exchange["started_at"] - timedelta(seconds=LIFE)
        recent = [one for one in self._asked_before() if one["ended_at"] and one["ended_at"] >= since]
        return max(recent[:NEWEST], key=self._equal_items, default=None)

    def _equal_items(self, earlier: Row) -> int:
        pairs = zip(self.rows.items(earlier), self.rows.items(self.exchange), strict=False)
        return sum(1 for _ in takewhile(lambda pair: pair[0].source == pair[1].source, pairs))

    def _equal_tokens(self, earlier: Row) -> int:
        items = self.rows.items(self.exchange)[: self._equal_items(earlier)]
        return sum(item.tokens for item in items)


def differ_in_settings(was: dict[str, Any], now: dict[str, Any]) -> bool:
    """Whether more differs than the cache that is named, with what it holds, and the token of an answer."""
    beside = {"cachedContent", "continuationToken"}
    if len({"cachedContent" in one for one in (was, now)}) > 1:
        beside.add("toolConfig")
    names = (was.keys() | now.keys()) - beside
    return any((name in was, was.get(name)) != (name in now, now.get(name)) for name in names)


def served_by_several(*exchanges: Row) -> bool:
    """Whether the answers name different models."""
    return len({_base(one["served_model"]) for one in exchanges} - {""}) > 1


def _base(model: str) -> str:
    """Without `models/` and a revision."""
    return re.sub(r"(?<=.)-(\d{3}|preview-\d\d-\d{2,4})$", "", model.rpartition("/")[2])
