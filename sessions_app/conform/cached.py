"""Probes of caches: the smallest, a whole life, and what a request with one may hold."""

import re

import orjson

from sessions_app.conform.bench import CACHE_SECONDS, Bench, said
from sessions_app.conform.report import Finding, told
from sessions_app.errors import BadKey, BadRequest, CacheGone, CacheTooSmall

SHORT = [said("Answer with the one word: yes")]
_MINIMUM = re.compile(r"min_total_token_count=(\d+)")


async def minimum(bench: Bench) -> Finding:
    """What the provider names when a cache is too small: the refusal costs nothing."""
    try:
        await bench.gateway.create_cache(
            model=bench.model,
            contents_and_tools=orjson.dumps({"contents": SHORT}),
            ttl_seconds=CACHE_SECONDS,
            display_name=bench.mark,
        )
    except CacheTooSmall as error:
        found = _MINIMUM.search(error.message)
        tokens = int(found[1]) if found else None
        learned = {"explicit_minimum": tokens} if tokens else {}
        return told(f"{tokens} tokens", same=tokens == bench.facts.explicit_minimum, **learned)
    except BadKey:
        raise
    except BadRequest as error:
        refused = not bench.facts.has_explicit_caches
        return told(f"{error.code} {error.message[:80]}", same=refused)
    return told("a cache of a few tokens was made", same=False)


async def life(bench: Bench) -> Finding:
    """Created, listed under our name, extended, deleted, and gone for the next request."""
    made = await bench.kept()
    listed = {cache.name: cache.display_name for cache in await bench.gateway.list_caches()}
    longer = await bench.gateway.extend_cache(made.name, 2 * CACHE_SECONDS)
    await bench.clean_up()
    error = await bench.refusal(SHORT, cachedContent=made.name)
    steps = {
        "created": made.tokens > 0,
        "listed by name": listed.get(made.name) == bench.mark,
        "extended": bool(made.expires and longer.expires and longer.expires > made.expires),
        "gone after": isinstance(error, CacheGone),
    }
    missing = [step for step, went in steps.items() if not went]
    return told(f"not {', not '.join(missing)}" if missing else ", ".join(steps), same=not missing)


async def hit(bench: Bench) -> Finding:
    """A request that names a cache is billed with all of it as cached, and the prompt includes that."""
    made = await bench.kept()
    usage = (await bench.ask(SHORT, cachedContent=made.name)).usage
    words = f"{usage.cached} of {usage.prompt} cached, {made.tokens} kept"
    return told(words, same=usage.cached == made.tokens < usage.prompt)


async def instruction_beside(bench: Bench) -> Finding:
    """A system instruction beside a cache."""
    made = await bench.kept()
    rule = {"parts": [{"text": "Be brief."}]}
    error = await bench.refusal(SHORT, cachedContent=made.name, systemInstruction=rule)
    return told("answered" if error is None else f"{error.code} {error.message[:80]}", same=error is not None)


async def implicit(bench: Bench) -> Finding:
    """The same long prefix twice. The provider promises nothing, so a miss settles nothing."""
    text = bench.filler(bench.facts.implicit_minimum * 2)
    for question in ("One?", "Two?"):
        reply = await bench.ask([said(text), said(question)])
    words = f"{reply.usage.cached:,} of {reply.usage.prompt:,} cached"
    return Finding("same" if reply.usage.cached else "open", words)
