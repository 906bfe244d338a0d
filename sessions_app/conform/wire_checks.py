"""The checks of forms that clients send and of the provider's counts.

Every check takes a ProbeContext, returns an Observation and raises GatewayError.
"""

import base64
from collections.abc import Iterable
from decimal import Decimal

import orjson

from sessions_app.conform.checks import FUNCTION, SHORT, refusal_words
from sessions_app.conform.cost_plan import SEARCH_FEE
from sessions_app.conform.probe_context import Observation, ProbeContext, text_content, tool_declaration
from sessions_app.conform.samples import SAMPLES
from sessions_app.errors import BadRequest
from sessions_app.gemini.model_capabilities import Capabilities
from sessions_app.prompt.parts import RawPart, call_part, content, response_part, text_part, with_signature
from sessions_app.prompt.reply import Usage
from sessions_app.prompt.signatures import DUMMY
from sessions_app.prompt.tokens import estimate

TOLERANCE = 30
"""Percent by which our estimate of a text may be off."""

_NO_TOKEN = base64.b64encode(b"no token of anybody's").decode()
_CITIES = ("Paris", "London")


async def token_estimate(context: ProbeContext) -> Observation:
    """countTokens beside our own estimate, for texts of different kinds. Costs nothing."""
    figures: dict[str, object] = {}
    for name, text in SAMPLES.items():
        body = orjson.dumps({"contents": [text_content(text)]})
        counted = await context.gateway.count_tokens(context.model, body)
        ours = estimate(text)
        off = round(100 * (ours - counted) / counted, 1) if counted else None
        figures[name] = {"counted": counted, "estimated": ours, "percent": off}
    shown = {name: row["percent"] for name, row in figures.items() if isinstance(row, dict)}
    same = all(off is not None and abs(off) <= TOLERANCE for off in shown.values())
    found = ", ".join(f"{name} {'?' if off is None else f'{off:+.0f} %'}" for name, off in shown.items())
    return Observation("same" if same else "differs", found, figures=figures)


async def calls_apart(context: ProbeContext) -> Observation:
    """Two calls of one answer as google-genai 3.4 returns them when it streamed: a content for each chunk,
    the last one empty. Asked as it does (the first call signed), with both signed, and in one content.
    """
    signed, bare = with_signature(_call("Paris"), DUMMY), _call("London")
    both = with_signature(bare, DUMMY)
    empty = text_part("")
    errors = {
        "apart": await _send_turns(context, [signed], [bare], [empty]),
        "apart_signed": await _send_turns(context, [signed], [both], [empty]),
        "together": await _send_turns(context, [signed, bare]),
    }
    same = errors["apart"] is not None and errors["together"] is None
    return Observation(
        "same" if same else "differs",
        "; ".join(f"{name.replace('_', ' ')}: {refusal_words(error)}" for name, error in errors.items()),
        figures={name: error is None for name, error in errors.items()},
    )


async def continuation_request(context: ProbeContext) -> Observation:
    """The form of a request that continues an answer, with a token that nobody made.

    An answer that is paused would cost more than the budget; whether the field is known shows in the refusal.
    """
    error = await context.refusal(SHORT, token=_NO_TOKEN)
    is_known = error is None or "Unknown name" not in error.message
    return Observation(
        "same" if is_known else "differs", refusal_words(error), figures={"is_known": is_known}
    )


async def builtin_with_functions(context: ProbeContext) -> Observation:
    """A tool of the provider beside a function, without and with the flag that the documents ask for."""
    plain = await _send_tools(context)
    figures = {"answered_without_flag": plain is None}
    found = f"without the flag: {refusal_words(plain)}"
    if plain is None:
        return Observation("open", found, figures=figures)
    flagged = await _send_tools(context, toolConfig={"includeServerSideToolInvocations": True})
    figures["answered_with_flag"] = flagged is None
    return Observation("same", f"{found}; with it: {refusal_words(flagged)}", figures=figures)


async def usage_identities(context: ProbeContext) -> Observation:
    """The sums of every answer of this run: total, and what was cached is part of the prompt."""
    await context.ask(SHORT)
    usages = context.usages
    wrong_sums = [usage for usage in usages if usage.total != _sum(usage)]
    wrong_shares = [usage for usage in usages if usage.cached > usage.prompt]
    figures = {
        "answers": len(usages),
        "wrong_sums": len(wrong_sums),
        "wrong_shares": len(wrong_shares),
        "with_thoughts": _count(usage.thoughts for usage in usages),
        "with_cached": _count(usage.cached for usage in usages),
        "with_tool_use": _count(usage.tool_use for usage in usages),
    }
    same = bool(usages) and not wrong_sums and not wrong_shares
    return Observation(
        "same" if same else "differs",
        f"{len(usages)} answers: {len(wrong_sums)} wrong sums, {len(wrong_shares)} wrong shares",
        figures=figures,
    )


def _sum(usage: Usage) -> int:
    return usage.prompt + usage.output + usage.thoughts + usage.tool_use


def _count(values: Iterable[int]) -> int:
    return sum(value > 0 for value in values)


def _call(city: str) -> RawPart:
    return call_part(FUNCTION, {"city": city})


async def _send_turns(context: ProbeContext, *turns: list[RawPart]) -> BadRequest | None:
    answers = [response_part(FUNCTION, {"city": city, "temp": "15C"}) for city in _CITIES]
    contents = [
        text_content("What is the weather in Paris and London? Answer in six words."),
        *(content("model", parts) for parts in turns),
        content("user", answers),
    ]
    return await context.refusal(contents, tools=[tool_declaration(FUNCTION)])


def provider_tool(facts: Capabilities) -> tuple[dict[str, object], Decimal]:
    """The tool to ask with, and its fee: before Gemini 3 a search alone would cost most of the budget."""
    if facts.signatures_required:
        return {"googleSearch": {}}, SEARCH_FEE
    return {"codeExecution": {}}, Decimal(0)


async def _send_tools(context: ProbeContext, **fields: object) -> BadRequest | None:
    tool, fee = provider_tool(context.facts)
    tools = [tool, tool_declaration(FUNCTION)]
    return await context.refusal(
        [text_content("Answer with the one word: yes. Search for nothing and call nothing.")],
        fee=fee,
        tools=tools,
        **fields,
    )
