"""Probes of what needs neither tools nor caches: limits, names, counts, thinking."""

import orjson

from sessions_app.conform.bench import Bench, said
from sessions_app.conform.report import Finding, told
from sessions_app.errors import UnknownModel
from sessions_app.gemini.capabilities import base_of

HELLO = [said("Answer with the one word: yes")]


async def limits(bench: Bench) -> Finding:
    facts, name = bench.facts, bench.model
    listed = next((model for model in await bench.gateway.models() if model.name == name), None)
    if listed is None:
        return Finding("differs", "not listed")
    learned = {"input_limit": listed.input_limit, "output_limit": listed.output_limit}
    told = (listed.input_limit, listed.output_limit) == (facts.input_limit, facts.output_limit)
    words = f"{listed.input_limit:,} in, {listed.output_limit:,} out"
    return Finding("same" if told else "differs", words, learned)


async def offers_caches(bench: Bench) -> Finding:
    listed = next((model for model in await bench.gateway.models() if model.name == bench.model), None)
    has = listed is not None and "createCachedContent" in listed.methods
    return told(caches(has), same=has == bench.facts.has_explicit_caches, has_explicit_caches=has)


async def served(bench: Bench) -> Finding:
    version = (await bench.ask(HELLO)).model_version
    same = base_of(version) == bench.facts.family
    return told(version or "nothing", same=same, **({} if same or not version else {"served_by": version}))


async def usage(bench: Bench) -> Finding:
    """total = prompt + output + thoughts + tool use, and the prompt includes what was cached."""
    counts = (await bench.ask(HELLO)).usage
    parts = counts.prompt + counts.output + counts.thoughts + counts.tool_use
    words = f"{counts.prompt} + {counts.output} + {counts.thoughts} = {counts.total}"
    return told(words, same=bool(counts.total) and parts == counts.total)


async def counting(bench: Bench) -> Finding:
    """countTokens and the bill agree about the same contents."""
    counted = await bench.gateway.count_tokens(bench.model, orjson.dumps({"contents": HELLO}))
    billed = (await bench.ask(HELLO)).usage.prompt
    return told(f"{counted} counted, {billed} billed", same=counted == billed)


async def thinking_level(bench: Bench) -> Finding:
    takes = [
        level for level in ("MINIMAL", "LOW", "MEDIUM", "HIGH") if await _takes(bench, thinkingLevel=level)
    ]
    words = ", ".join(takes) or "refused"
    return told(words, same=tuple(takes) == bench.facts.levels, levels=takes)


async def thinking_budget(bench: Bench) -> Finding:
    takes = await _takes(bench, thinkingBudget=512)
    # Gemini 3 takes a budget for old clients' sake: only a refusal where we would send one matters.
    same = takes or bench.facts.thinking != "budget"
    return told("taken" if takes else "refused", same=same)


async def unknown_model(bench: Bench) -> Finding:
    error: UnknownModel | None = None
    try:
        async with bench.gateway.stream(f"{bench.model}-{bench.run}", b'{"contents":[]}') as chunks:
            async for _ in chunks:
                break
    except UnknownModel as refused:
        error = refused
    return told("answered" if error is None else str(error.code), same=error is not None)


async def _takes(bench: Bench, **thinking: object) -> bool:
    config = {"thinkingConfig": thinking, "maxOutputTokens": 16}
    return await bench.refusal(HELLO, generationConfig=config) is None


def caches(has: bool) -> str:
    return "explicit caches" if has else "no explicit caches"
