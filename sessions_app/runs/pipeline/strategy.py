"""How this request is cached: which mode, which policy, and when history rolls into the static layer."""

from sessions_app.context.prices import price_now
from sessions_app.prompt import strategy
from sessions_app.prompt.pace import hit_share, pace_of
from sessions_app.prompt.pricing import Rates
from sessions_app.prompt.rollover import NEVER, longest_life
from sessions_app.prompt.strategy import TYPICAL, Situation
from sessions_app.runs.pipeline.work import Work

NO_CACHES = "there are no explicit caches for this model here."


def choose(work: Work) -> None:
    """Sets `work.strategy`, `thresholds`, `cache_mode`, `cache_policy` and the reason.

    Called before history detaches. No query: `work.past` is read already, and prices are kept.
    """
    seen = work.past.seen
    prompt = seen[-1].prompt if seen else 0
    rates = _rates(work, prompt) if seen else None
    longest = longest_life(rates or TYPICAL) / 3_600
    work.named = frozenset(one.cache_name for one in seen if one.cache_name)
    work.strategy = chosen = strategy.choose(
        Situation(
            refusal=_refusal(work),
            mode=work.options.cache_mode,
            policy=work.options.cache_policy,
            rates=rates,
            pace=pace_of(seen, work.session.exchange_count, longest),
            prefix=seen[-1].prefix if seen else 0,
            prompt=prompt,
            hit_share=hit_share(seen, work.route),
        )
    )
    # Within a run nothing moves: the calls of its rounds would lose the words that led to them.
    work.thresholds = chosen.before if work.step == 1 else NEVER
    work.cache_mode, work.cache_policy = chosen.mode, chosen.policy
    work.strategy_reason = chosen.reason


def _refusal(work: Work) -> str:
    """Why there are no explicit caches; empty where there are."""
    if not (work.door.has_explicit_caches and work.capabilities.has_explicit_caches):
        return NO_CACHES
    refusal = work.past.refusal(work.route, work.session.model)
    return f"the provider refused a cache: {refusal}" if refusal else ""


def _rates(work: Work, prompt: int) -> Rates | None:
    price = price_now(work.session.model, work.run.now.date(), family=work.capabilities.family)
    return price.rates(prompt) if price else None
