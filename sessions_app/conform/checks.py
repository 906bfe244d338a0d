"""The checks behind the probes: each asks the provider something small and compares the answer.

Every check takes a ProbeContext, returns an Observation and raises GatewayError.
"""

import base64

import orjson

from sessions_app.conform.probe_context import (
    Observation,
    ProbeContext,
    observation,
    text_content,
    tool_declaration,
)
from sessions_app.errors import BadRequest, UnknownModel, excerpt
from sessions_app.gemini.model_capabilities import Capabilities, base_of
from sessions_app.prompt.parts import (
    RawPart,
    call_of,
    call_part,
    content,
    raw_parts,
    response_part,
    signature_of,
    with_signature,
)
from sessions_app.prompt.signatures import DUMMY

SHORT = [text_content("Answer with the one word: yes")]
FUNCTION = "get_weather"
QUESTION = "What is the weather in Paris? Answer in three words."
ALTERED = base64.b64encode(b"not a signature of anybody's " * 4).decode()

CALL_LIMIT = 512
"""Tokens of the answer that calls a function, its thoughts included."""


async def limits(context: ProbeContext) -> Observation:
    facts, name = context.facts, context.model
    listed = next((model for model in await context.gateway.models() if model.name == name), None)
    if listed is None:
        return Observation("differs", "not listed")
    learned = {"input_limit": listed.input_limit, "output_limit": listed.output_limit}
    same = (listed.input_limit, listed.output_limit) == (facts.input_limit, facts.output_limit)
    found = f"{listed.input_limit:,} in, {listed.output_limit:,} out"
    return Observation("same" if same else "differs", found, learned)


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


async def signature_demanded(context: ProbeContext) -> Observation:
    """A call of the current turn without its signature."""
    error = await _send_call(context, "")
    return observation(
        refusal_words(error),
        same=(error is not None) == context.facts.signatures_required,
        **_signatures_learned(error),
    )


async def dummy_signature(context: ProbeContext) -> Observation:
    """The documented dummy in the place of a lost signature."""
    error = await _send_call(context, DUMMY)
    return observation(refusal_words(error), same=error is None)


async def altered_signature(context: ProbeContext) -> Observation:
    """Bytes that no model made."""
    error = await _send_call(context, ALTERED)
    return observation(refusal_words(error), same=(error is not None) == context.facts.signatures_required)


async def signature_returned(context: ProbeContext) -> Observation:
    """A call of the model sent back as it came."""
    parts = await _called(context)
    if not _signature(parts):
        return Observation("open", "the call came without a signature")
    error = await _send_parts(context, parts)
    return observation(refusal_words(error), same=error is None)


async def signature_tampered(context: ProbeContext) -> Observation:
    """The same call with one character of its signature changed."""
    parts = await _called(context)
    signature = _signature(parts)
    if not signature:
        return Observation("open", "the call came without a signature")
    changed = [with_signature(part, _tampered(signature)) if signature_of(part) else part for part in parts]
    error = await _send_parts(context, changed)
    return observation(refusal_words(error), same=(error is not None) == context.facts.signatures_required)


async def _takes(context: ProbeContext, **thinking: object) -> bool:
    config = {"thinkingConfig": thinking, "maxOutputTokens": 16}
    return await context.refusal(SHORT, generationConfig=config) is None


async def _send_call(context: ProbeContext, signature: str) -> BadRequest | None:
    call = call_part(FUNCTION, {"city": "Paris"})
    return await _send_parts(context, [with_signature(call, signature) if signature else call])


async def _send_parts(context: ProbeContext, parts: list[RawPart]) -> BadRequest | None:
    """The refusal of a round whose function call turn has these parts."""
    answers = [
        response_part(call["name"], {"temp": "15C"}, call_id=str(call.get("id") or ""))
        for call in filter(None, map(call_of, parts))
    ]
    contents = [text_content(QUESTION), content("model", parts), content("user", answers)]
    return await context.refusal(contents, tools=[tool_declaration(FUNCTION)])


async def _called(context: ProbeContext) -> list[RawPart]:
    """The parts of an answer that calls the function; it is asked for once in a run."""
    if context.call is None:
        context.call = await context.ask(
            [text_content(QUESTION)],
            tools=[tool_declaration(FUNCTION)],
            toolConfig={"functionCallingConfig": {"mode": "ANY"}},
            generationConfig={"maxOutputTokens": CALL_LIMIT},
        )
    return raw_parts(context.call.wire or b"{}")


def _signature(parts: list[RawPart]) -> str:
    return next(filter(None, map(signature_of, parts)), "")


def _tampered(signature: str) -> str:
    middle = len(signature) // 2
    other = "A" if signature[middle] != "A" else "B"
    return signature[:middle] + other + signature[middle + 1 :]


def prefix_tokens(facts: Capabilities) -> int:
    """A quarter more than what the provider promises to cache."""
    return facts.implicit_minimum * 5 // 4


def refusal_words(error: BadRequest | None) -> str:
    return "answered" if error is None else f"{error.code} {excerpt(error.message, 90)}"


def _signatures_learned(error: BadRequest | None) -> dict[str, bool]:
    """Only a refusal that speaks of signatures settles it."""
    if error is None:
        return {"signatures_required": False}
    return {"signatures_required": True} if "signature" in error.message else {}
