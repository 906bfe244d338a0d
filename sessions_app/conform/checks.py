"""The checks behind the probes: each asks the provider something small and compares the answer.

Every check takes a ProbeContext, returns an Observation and raises GatewayError.
"""

import base64
import re

import orjson

from sessions_app.conform.probe_context import (
    CACHE_SECONDS,
    Observation,
    ProbeContext,
    observation,
    text_content,
    tool_declaration,
)
from sessions_app.errors import BadKey, BadRequest, CacheGone, CacheTooSmall, UnknownModel
from sessions_app.gemini.model_capabilities import base_of
from sessions_app.prompt.parts import call_part, content, response_part, with_signature
from sessions_app.prompt.signatures import DUMMY

SHORT = [text_content("Answer with the one word: yes")]
FUNCTION = "get_weather"
ALTERED = base64.b64encode(b"not a signature of anybody's " * 4).decode()
_MINIMUM = re.compile(r"min_total_token_count=(\d+)")


async def limits(context: ProbeContext) -> Observation:
    facts, name = context.facts, context.model
    listed = next((model for model in await context.gateway.models() if model.name == name), None)
    if listed is None:
        return Observation("differs", "not listed")
    learned = {"input_limit": listed.input_limit, "output_limit": listed.output_limit}
    same = (listed.input_limit, listed.output_limit) == (facts.input_limit, facts.output_limit)
    found = f"{listed.input_limit:,} in, {listed.output_limit:,} out"
    return Observation("same" if same else "differs", found, learned)


async def offers_caches(context: ProbeContext) -> Observation:
    listed = next((model for model in await context.gateway.models() if model.name == context.model), None)
    has = listed is not None and "createCachedContent" in listed.methods
    return observation(caches(has), same=has == context.facts.has_explicit_caches, has_explicit_caches=has)


async def served_model(context: ProbeContext) -> Observation:
    version = (await context.ask(SHORT)).model_version
    same = base_of(version) == context.facts.family
    return observation(
        version or "nothing", same=same, **({} if same or not version else {"served_by": version})
    )


async def usage_sum(context: ProbeContext) -> Observation:
    """total = prompt + output + thoughts + tool use, and the prompt includes what was cached."""
    counts = (await context.ask(SHORT)).usage
    parts = counts.prompt + counts.output + counts.thoughts + counts.tool_use
    found = f"{counts.prompt} + {counts.output} + {counts.thoughts} = {counts.total}"
    return observation(found, same=bool(counts.total) and parts == counts.total)


async def count_tokens(context: ProbeContext) -> Observation:
    """countTokens and the bill agree about the same contents."""
    counted = await context.gateway.count_tokens(context.model, orjson.dumps({"contents": SHORT}))
    billed = (await context.ask(SHORT)).usage.prompt
    return observation(f"{counted} counted, {billed} billed", same=counted == billed)


async def thinking_level(context: ProbeContext) -> Observation:
    takes = [
        level for level in ("MINIMAL", "LOW", "MEDIUM", "HIGH") if await _takes(context, thinkingLevel=level)
    ]
    found = ", ".join(takes) or "refused"
    return observation(found, same=tuple(takes) == context.facts.levels, levels=takes)


async def thinking_budget(context: ProbeContext) -> Observation:
    takes = await _takes(context, thinkingBudget=512)
    # Gemini 3 takes a budget for old clients' sake: only a refusal where we would send one matters.
    same = takes or context.facts.thinking != "budget"
    return observation("taken" if takes else "refused", same=same)


async def unknown_model(context: ProbeContext) -> Observation:
    error: UnknownModel | None = None
    try:
        async with context.gateway.stream(f"{context.model}-{context.run}", b'{"contents":[]}') as chunks:
            async for _ in chunks:
                break
    except UnknownModel as refused:
        error = refused
    return observation("answered" if error is None else str(error.code), same=error is not None)


def caches(has: bool) -> str:
    return "explicit caches" if has else "no explicit caches"


async def signature_demanded(context: ProbeContext) -> Observation:
    """A call of the current turn without its signature."""
    error = await _send_call(context, "")
    return observation(
        _refusal_words(error),
        same=(error is not None) == context.facts.signatures_required,
        **_signatures_learned(error),
    )


async def dummy_signature(context: ProbeContext) -> Observation:
    """The documented dummy in the place of a lost signature."""
    error = await _send_call(context, DUMMY)
    return observation(_refusal_words(error), same=error is None)


async def altered_signature(context: ProbeContext) -> Observation:
    """Bytes that no model made."""
    error = await _send_call(context, ALTERED)
    return observation(_refusal_words(error), same=(error is not None) == context.facts.signatures_required)


async def cache_minimum(context: ProbeContext) -> Observation:
    """What the provider names when a cache is too small: the refusal costs nothing."""
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
        return observation(f"{error.code} {error.message[:80]}", same=refused)
    return observation("a cache of a few tokens was made", same=False)


async def cache_life(context: ProbeContext) -> Observation:
    """Created, listed under our name, extended, deleted, and gone for the next request."""
    made = await context.shared_cache()
    listed = {cache.name: cache.display_name for cache in await context.gateway.list_caches()}
    longer = await context.gateway.extend_cache(made.name, 2 * CACHE_SECONDS)
    await context.clean_up()
    error = await context.refusal(SHORT, cachedContent=made.name)
    steps = {
        "created": made.tokens > 0,
        "listed by name": listed.get(made.name) == context.mark,
        "extended": bool(made.expires and longer.expires and longer.expires > made.expires),
        "gone after": isinstance(error, CacheGone),
    }
    missing = [step for step, went in steps.items() if not went]
    return observation(f"not {', not '.join(missing)}" if missing else ", ".join(steps), same=not missing)


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
        "answered" if error is None else f"{error.code} {error.message[:80]}", same=error is not None
    )


async def implicit_cache(context: ProbeContext) -> Observation:
    """The same long prefix twice. The provider promises nothing, so a miss settles nothing."""
    text = context.filler(context.facts.implicit_minimum * 2)
    for question in ("One?", "Two?"):
        reply = await context.ask([text_content(text), text_content(question)])
    found = f"{reply.usage.cached:,} of {reply.usage.prompt:,} cached"
    return Observation("same" if reply.usage.cached else "open", found)


async def _takes(context: ProbeContext, **thinking: object) -> bool:
    config = {"thinkingConfig": thinking, "maxOutputTokens": 16}
    return await context.refusal(SHORT, generationConfig=config) is None


async def _send_call(context: ProbeContext, signature: str) -> BadRequest | None:
    call = call_part(FUNCTION, {"city": "Paris"})
    if signature:
        call = with_signature(call, signature)
    contents = [
        text_content("What is the weather in Paris? Answer in three words."),
        content("model", [call]),
        content("user", [response_part(FUNCTION, {"temp": "15C"})]),
    ]
    return await context.refusal(contents, tools=[tool_declaration(FUNCTION)])


def _refusal_words(error: BadRequest | None) -> str:
    return "answered" if error is None else f"{error.code} {error.message[:90]}"


def _signatures_learned(error: BadRequest | None) -> dict[str, bool]:
    """Only a refusal that speaks of signatures settles it."""
    if error is None:
        return {"signatures_required": False}
    return {"signatures_required": True} if "signature" in error.message else {}
