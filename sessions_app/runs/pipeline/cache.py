"""Stage 11: what to do about the explicit cache."""

from dataclasses import replace

from django.utils import timezone

from sessions_app.models import CacheEntry
from sessions_app.prompt import caching
from sessions_app.prompt.caching import CacheFacts
from sessions_app.prompt.payload import static_tokens
from sessions_app.runs.pipeline.work import Report, Work


def plan(work: Work) -> Report:
    """Sets the fingerprint and the plan. One query where a cache lives, two where none does, none where
    none can be or is wanted.
    """
    layers, model, route = work.layers, work.session.model, work.route
    work.fingerprint = caching.fingerprint(route, model, layers.static_text, layers.declarations)
    minimum = work.capabilities.explicit_minimum if work.door.has_explicit_caches else None
    is_waived = work.cache_mode == "implicit" and minimum is not None
    facts = CacheFacts(minimum)
    if minimum is not None and (work.named or not is_waived):
        facts = CacheEntry.facts(work.fingerprint, route=route, model=model, minimum=minimum)
    facts = replace(
        facts,
        lifetime=work.strategy.lifetime,
        waived=work.strategy.reason if is_waived else "",
        is_ours=facts.name in work.named,
    )
    work.plan = decided = caching.plan(static_tokens(layers), facts, timezone.now())
    came_in = f"fingerprint {work.fingerprint[:12]}, {work.cache_mode} and {work.cache_policy}"
    return Report(came_in, decided.action, details=(decided.reason, work.strategy_reason))
