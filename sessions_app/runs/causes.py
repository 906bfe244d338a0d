"""What happened between an exchange and the one before it on its branch, read for its verdict."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from django.db.models import Q, QuerySet

from sessions_app.errors import AnswerRefused, BrokenStream, CacheGone, GatewayError, PipewebError
from sessions_app.gemini.model_capabilities import base_of
from sessions_app.models import CacheEvent, Exchange
from sessions_app.prompt import prefix_diff
from sessions_app.prompt.cache_life import CacheFate, CacheMoment, FateKind, fate_between, unused
from sessions_app.prompt.caching import CacheAction, CachePlan, PlanReason
from sessions_app.prompt.reply import Usage
from sessions_app.prompt.routes import endpoint_of
from sessions_app.prompt.verdict import Comparison, Verdict, VerdictReason
from sessions_app.prompt.verdict_rules import IMPLICIT_LIFE, asked_again, lost_by, verdict_of
from sessions_app.runs.comparison import (
    asks_same_model,
    served_by_one,
    sources_of,
)
from sessions_app.runs.reply_setting import BEFORE_FIELDS
from sessions_app.runs.sent_settings import have_same_settings
from sessions_app.runs.static_changes import change_between

WITHOUT_CACHE = {CacheAction.NONE, CacheAction.DROP, CacheAction.UNKNOWN, ""}
"""Actions after which no cache of the exchange's static layer was made or named."""

OF_PREVIOUS = {
    VerdictReason.EARLIER_TOO_SHORT,
    VerdictReason.OTHER_TOOLS,
    VerdictReason.LAYER_CHANGED,
    VerdictReason.HISTORY_REWRITTEN,
    VerdictReason.ROLLED_OVER,
}
"""Reasons that hold for the previous exchange of the branch. An earlier one, or one of another branch, may
have sent the same beginning: a change was taken back, or the request is a retry.
"""

CANDIDATES = 50
"""Earlier exchanges at most that are compared with such a request."""

UNNAMED = {PlanReason.WAIVED, PlanReason.NOT_OFFERED, PlanReason.CLIENT}
"""Why a plan does not name a cache that lives."""


@dataclass(frozen=True, slots=True)
class AnsweredRequest:
    """An exchange whose previous one is loaded, with what was planned and known for it.

    `tokens` are the estimates of its items, in reading order. `minimum` is the shortest prefix in tokens
    that the model caches implicitly, None when it does not.
    """

    exchange: Exchange
    plan: CachePlan
    tokens: Sequence[int]
    minimum: int | None


def verdict_for(request: AnsweredRequest, usage: Usage, seen: Comparison | None) -> Verdict:
    """The verdict on an answered exchange.

    No query for a cache that was named and counted; one where a cache was concerned that was not named.
    """
    exchange, plan = request.exchange, request.plan
    before = exchange.previous
    if before is not None and before.payload_purged_at is not None:
        return verdict_of(plan, usage, minimum=request.minimum, is_purged=True)
    if before is not None and seen is not None:
        static, rolled = change_between(before, exchange)
        seen = replace(seen, static=static, rolled=rolled)
    continues = exchange.continues_id is not None
    fate = _fate(exchange, before, plan) if before is not None else None
    verdict = verdict_of(plan, usage, seen, minimum=request.minimum, continues=continues, fate=fate)
    if verdict.reason is VerdictReason.OTHER_MODEL:
        return _since(_same_model_before(exchange), verdict, request, usage)
    if verdict.reason in OF_PREVIOUS and (fate is None or fate.kind is FateKind.OTHER_BYTES):
        return _since(_closest_before(request), verdict, request, usage)
    return verdict


def refused_verdict(exchange: Exchange, kind: str) -> Verdict:
    """The verdict on an exchange without an answer; `kind` is that of its error (`Exchange.error`).

    One query where the provider no longer had the cache that it named.
    """
    if kind != CacheGone.__name__:
        return Verdict(VerdictReason.NOT_ANSWERED)
    until = exchange.ended_at or exchange.started_at
    lives = CacheEvent.objects.lives(until, exchange.fingerprint)
    named = [event for event in lives.get(exchange.fingerprint, ()) if event.name == exchange.cache_name]
    return lost_by(fate_between(named, named[0].at, until) if named else None)


def unended_verdict(error: PipewebError | None, *, has_chunks: bool) -> Verdict:
    """The verdict on an exchange of a run that did not complete; `error` is what ended it."""
    if has_chunks or not isinstance(error, GatewayError):
        return Verdict(VerdictReason.CUT_OFF)
    has_come = isinstance(error, BrokenStream | AnswerRefused)
    return Verdict(VerdictReason.UNREADABLE if has_come else VerdictReason.NOT_ANSWERED)


def _fate(exchange: Exchange, before: Exchange, plan: CachePlan) -> CacheFate | None:
    """What became of the cache that the request might have named; None where none lived since `before`."""
    if plan.is_hit or (before.cache_action in WITHOUT_CACHE and not before.cache_name):
        return None
    until = exchange.started_at
    lives = CacheEvent.objects.lives(until, before.fingerprint, exchange.fingerprint)
    own = fate_between(lives.get(exchange.fingerprint, ()), before.started_at, until)
    if own is not None and own.kind is not FateKind.LIVES:
        return own
    if own is not None:
        # One that was made while the request was prepared explains nothing.
        return unused(own, plan.reason) if plan.reason in UNNAMED else None
    return _fate_of_earlier(exchange, before, lives.get(before.fingerprint, ()))


def _fate_of_earlier(exchange: Exchange, before: Exchange, events: Sequence[CacheMoment]) -> CacheFate | None:
    """What became of the cache of `before`, which is not one of this request."""
    earlier = fate_between(events, before.started_at, exchange.started_at)
    if earlier is None and not before.cache_name:
        return None
    if before.fingerprint != exchange.fingerprint:
        return CacheFate(FateKind.OTHER_BYTES, before.cache_name)
    return CacheFate(FateKind.UNKNOWN, before.cache_name)


def _since(earlier: Exchange | None, verdict: Verdict, request: AnsweredRequest, usage: Usage) -> Verdict:
    """The verdict from `earlier`, not the previous exchange, where it explains more: a query for a cache."""
    exchange, plan = request.exchange, request.plan
    if earlier is None or earlier.pk == exchange.previous_id:
        return verdict
    again = _compared(exchange, earlier, request.tokens)
    return asked_again(verdict, plan, usage, again, _fate(exchange, earlier, plan))


def _same_model_before(exchange: Exchange) -> Exchange | None:
    """The session's newest answered exchange that asked this endpoint for this model: one query."""
    found = _asked_before(exchange).last()
    return found if found is not None and asks_same_model(found, exchange) else None


def _closest_before(request: AnsweredRequest) -> Exchange | None:
    """The request with the longest equal beginning, within the life of implicit caches: one query."""
    exchange = request.exchange
    since = exchange.started_at - IMPLICIT_LIFE
    recent = _asked_before(exchange).filter(ended_at__gte=since).reverse()[:CANDIDATES]
    found = [earlier for earlier in recent if asks_same_model(earlier, exchange)]
    sources = sources_of(exchange)
    return max(found, key=lambda one: prefix_diff.common_prefix(sources_of(one), sources), default=None)


def _asked_before(exchange: Exchange) -> QuerySet[Exchange]:
    """The session's answered exchanges that may have asked this endpoint for this model, by whatever name."""
    endpoint, served = endpoint_of(exchange.route), base_of(exchange.served_model)
    same = Q(model=exchange.model)
    if served:
        same |= Q(served_model__in=(served, f"models/{served}"))
    asked = (
        Exchange.objects.filter(
            same, session_id=exchange.session_id, number__lt=exchange.number, prompt_tokens__gt=0
        )
        .filter(payload_purged_at=None)
        .filter(Q(route=endpoint) | Q(route__startswith=f"{endpoint}/"))
    )
    return asked.only(*BEFORE_FIELDS).order_by("number")


def _compared(exchange: Exchange, earlier: Exchange, tokens: Sequence[int]) -> Comparison:
    """The comparison with an exchange other than the previous one, without the place of a break."""
    prefix = prefix_diff.common_prefix(sources_of(earlier), sources_of(exchange))
    idle = exchange.started_at - (earlier.ended_at or earlier.started_at)
    return Comparison(
        number=earlier.number,
        prefix_tokens=sum(tokens[:prefix]),
        tokens=sum(tokens),
        was_prompt=earlier.prompt_tokens,
        idle_seconds=max(0.0, idle.total_seconds()),
        same_served=served_by_one(earlier, exchange),
        same_config=have_same_settings(earlier, exchange),
    )
