"""The checks of explicit and implicit caches.

Every check takes a ProbeContext, returns an Observation and raises GatewayError.
"""

import re

import orjson

from sessions_app.conform.checks import SHORT, prefix_tokens, refusal_words
from sessions_app.conform.probe_context import (
    CACHE_SECONDS,
    Observation,
    ProbeContext,
    observation,
    text_content,
)
from sessions_app.errors import BadKey, BadRequest, CacheGone, CacheTooSmall, excerpt

SHORT_LIFE = 10
"""TTL in seconds of the cache that is left to expire."""

_WAITS = (2.0, 20.0)
"""Seconds after its end at which it is asked for."""

_MINIMUM = re.compile(r"min_total_token_count=(\d+)")


async def offers_caches(context: ProbeContext) -> Observation:
    listed = next((model for model in await context.gateway.models() if model.name == context.model), None)
    has = listed is not None and "createCachedContent" in listed.methods
    return observation(caches(has), same=has == context.facts.has_explicit_caches, has_explicit_caches=has)


def caches(has: bool) -> str:
    return "explicit caches" if has else "no explicit caches"


async def cache_minimum(context: ProbeContext) -> Observation:
    """What the provider names when a cache is too small: the refusal costs nothing."""
    context.has_made_caches = True
    try:
        await context.gateway.create_cache(
            model=context.model,
            contents_and_tools=orjson.dumps({"contents": SHORT}),
            ttl_seconds=CACHE_SECONDS,
            display_name=context.mark,
        )
    except CacheTooSmall as error:
        found = _MINIMUM.search(error.message)
        tokens = int(found[1]) if found else None
        learned = {"explicit_minimum": tokens} if tokens else {}
        return observation(f"{tokens} tokens", same=tokens == context.facts.explicit_minimum, **learned)
    except BadKey:
        raise
    except BadRequest as error:
        refused = not context.facts.has_explicit_caches
        return observation(f"{error.code} {excerpt(error.message, 80)}", same=refused)
    return observation("a cache of a few tokens was made", same=False)


async def cache_life(context: ProbeContext) -> Observation:
    """Created, listed under our name, extended, deleted, and gone for the next request."""
    made = await context.shared_cache()
    listed = {cache.name: cache.display_name for cache in await context.gateway.list_caches()}
    longer = await context.gateway.extend_cache(made.name, 2 * CACHE_SECONDS)
    await context.delete_shared_cache()
    error = await context.refusal(SHORT, cachedContent=made.name)
    steps = {
        "created": made.tokens > 0,
        "listed by name": listed.get(made.name) == context.mark,
        "extended": bool(made.expires and longer.expires and longer.expires > made.expires),
        "gone after": isinstance(error, CacheGone),
    }
    missing = [step for step, went in steps.items() if not went]
    return observation(f"not {', not '.join(missing)}" if missing else ", ".join(steps), same=not missing)


async def cache_expires(context: ProbeContext) -> Observation:
    """A cache that nobody deletes or extends, named in a request after its time."""
    made = await context.make_cache(SHORT_LIFE)
    await context.pause(SHORT_LIFE)
    after, error = 0.0, None
    for seconds in _WAITS:
        await context.pause(seconds)
        after += seconds
        error = await context.refusal(SHORT, cachedContent=made.name)
        if error is not None:
            break
    found = f"{after:.0f} s after its end: {refusal_words(error)}"
    return Observation(
        "same" if isinstance(error, CacheGone) else "differs", found, figures={"is_gone": error is not None}
    )


async def cache_hit(context: ProbeContext) -> Observation:
    """A request that names a cache is billed with all of it as cached, and the prompt includes that."""
    made = await context.shared_cache()
    usage = (await context.ask(SHORT, cachedContent=made.name)).usage
    found = f"{usage.cached} of {usage.prompt} cached, {made.tokens} kept"
    return observation(found, same=usage.cached == made.tokens < usage.prompt)


async def instruction_beside(context: ProbeContext) -> Observation:
    """A system instruction beside a cache."""
    made = await context.shared_cache()
    rule = {"parts": [{"text": "Be brief."}]}
    error = await context.refusal(SHORT, cachedContent=made.name, systemInstruction=rule)
    return observation(
        "answered" if error is None else f"{error.code} {excerpt(error.message, 80)}", same=error is not None
    )


async def implicit_cache(context: ProbeContext) -> Observation:
    """The same long prefix twice. The provider promises nothing, so a miss settles nothing."""
    text = context.filler(prefix_tokens(context.facts))
    for question in ("One?", "Two?"):
        reply = await context.ask([text_content(text), text_content(question)])
    found = f"{reply.usage.cached:,} of {reply.usage.prompt:,} cached"
    return Observation("same" if reply.usage.cached else "open", found)
