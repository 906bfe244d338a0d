"""Caching of a request: strategy, detach thresholds, plan of the explicit cache."""

from dataclasses import dataclass, replace

from django.utils import timezone

from sessions_app.context.model_lookup import price_now
from sessions_app.models import CacheEntry
from sessions_app.prompt import caching, strategy
from sessions_app.prompt.caching import CacheAction, CacheFacts, CachePlan, PlanReason
from sessions_app.prompt.detach import Thresholds
from sessions_app.prompt.layers import Layers
from sessions_app.prompt.payload import static_tokens
from sessions_app.prompt.pricing import Rates
from sessions_app.prompt.rollover import NEVER, hit_share, longest_lifetime, pace_of
from sessions_app.prompt.stage_records import CacheFigures
from sessions_app.prompt.strategy import TYPICAL_RATES, Situation, Strategy
from sessions_app.runs.request.context import RequestContext, StageResult


@dataclass(frozen=True, slots=True)
class ChosenCaching:
    """`thresholds` apply to detaching before this request; `named` are the caches of recent requests."""

    strategy: Strategy
    thresholds: Thresholds
    named: frozenset[str]


@dataclass(frozen=True, slots=True)
class PlannedCache:
    """The plan of the explicit cache with this `fingerprint`; `entry` is the key of our row if it lives."""

    plan: CachePlan
    fingerprint: str
    entry: int | None = None


def choose(context: RequestContext) -> ChosenCaching:
    """Chooses the strategy before history is detached. No query.

    Within a run nothing changes: its first request decided.
    """
    if context.first is not None:
        return ChosenCaching(context.first.strategy, NEVER, context.first.named)
    counted = context.recent.counted_exchanges
    prompt = counted[-1].prompt if counted else 0
    rates = _rates(context, prompt) if counted else None
    is_offered = context.endpoint.has_explicit_caches and context.capabilities.has_explicit_caches
    longest = longest_lifetime(rates or TYPICAL_RATES) / 3_600
    chosen = strategy.choose_strategy(
        Situation(
            is_offered=is_offered,
            refusal=context.recent.refusal(context.route, context.session.model) if is_offered else "",
            mode=context.options.cache_mode,
            policy=context.options.cache_policy,
            rates=rates,
            pace=pace_of(counted, context.session.exchange_count, longest),
            prefix=counted[-1].prefix if counted else None,
            prompt=prompt,
            hit_share=hit_share(counted, context.route),
        )
    )
    thresholds = chosen.before if context.step == 1 and not context.is_aside else NEVER
    return ChosenCaching(chosen, thresholds, frozenset(one.cache_name for one in counted if one.cache_name))


def plan(context: RequestContext, layers: Layers, chosen: ChosenCaching) -> StageResult[PlannedCache]:
    """One query when a cache exists, two when none does, none when none is possible or wanted."""
    model, route, how = context.session.model, context.route, chosen.strategy
    fingerprint = caching.fingerprint(route, model, layers.static_text, layers.declarations)
    minimum = context.capabilities.explicit_minimum if context.endpoint.has_explicit_caches else None
    is_waived = how.record.mode == "implicit" and minimum is not None
    facts = CacheFacts(minimum)
    if minimum is not None and (chosen.named or not is_waived):
        held = context.recent.caches_of(context.run.pk)
        facts = CacheEntry.facts(fingerprint, route=route, model=model, minimum=minimum, held=held)
    facts = replace(facts, lifetime=how.lifetime, is_waived=is_waived, is_ours=facts.name in chosen.named)
    decided = caching.plan_cache(static_tokens(layers), facts, timezone.now())
    if decided.is_kept and not (facts.entry and CacheEntry.objects.keep(facts.entry)):
        # Its deletion began meanwhile.
        facts = replace(facts, name="", expires=None, entry=None, is_dropped=False, is_deleting=True)
        decided = caching.plan_cache(static_tokens(layers), facts, timezone.now())
    if context.is_aside and decided.action is CacheAction.CREATE:
        decided = CachePlan(CacheAction.NONE, "", PlanReason.WAIVED)
    figures = CacheFigures(
        fingerprint=fingerprint, mode=how.record.mode, policy=how.record.policy, action=decided.action
    )
    return StageResult(PlannedCache(decided, fingerprint, facts.entry), figures)


def _rates(context: RequestContext, prompt: int) -> Rates | None:
    day, family = context.run.now.date(), context.capabilities.family
    price = price_now(family, day, family=context.session.model)
    return price.rates(prompt) if price else None
