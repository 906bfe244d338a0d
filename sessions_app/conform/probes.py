"""The list of probes: each an assumption of ours, what it may cost to check, and how.

An assumption comes from the capability table where models differ in it, else from gemini-wire.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from sessions_app.conform import cache_checks, checks, wire_checks
from sessions_app.conform.cost_plan import Cost
from sessions_app.conform.probe_context import (
    ANSWER_LIMIT,
    CACHE_SECONDS,
    Observation,
    ProbeContext,
    filler_tokens,
)
from sessions_app.errors import BadKey, GatewayError
from sessions_app.gemini.model_capabilities import Capabilities


@dataclass(frozen=True, slots=True)
class Probe:
    """`expected` is a text. `cost` is what may be sent and answered at most.

    `caches`: only for models that have explicit ones.
    """

    name: str
    expected: Callable[[Capabilities], str]
    run: Callable[[ProbeContext], Awaitable[Observation]]
    cost: Callable[[Capabilities], Cost]
    caches: bool = False

    def skip_reason(self, context: ProbeContext) -> str:
        """Why it cannot be run; empty when it can be."""
        if self.caches and not (context.facts.has_explicit_caches and context.gateway.has_explicit_caches):
            return "there are no explicit caches"
        return ""

    def is_fatal(self, error: GatewayError) -> bool:
        """Whether no other probe can get an answer either."""
        return isinstance(error, BadKey)


def _always(text: str) -> Callable[[Capabilities], str]:
    return lambda facts: text


def _free(requests: int) -> Callable[[Capabilities], Cost]:
    return lambda facts: Cost(requests)


def _small(requests: int, *, free: int = 0, limit: int = ANSWER_LIMIT) -> Callable[[Capabilities], Cost]:
    """Requests of a sentence."""
    return lambda facts: Cost(requests + free, sent=90 * requests, answered=limit * requests)


def _tool_round(requests: int) -> Callable[[Capabilities], Cost]:
    return lambda facts: Cost(requests, sent=400 * requests, answered=ANSWER_LIMIT * requests)


def _call_returned(facts: Capabilities) -> Cost:
    """The call is asked for once; its signature may be as long as the answer."""
    sent = 400 + 700 + checks.CALL_LIMIT * 2
    return Cost(2, sent=sent, answered=checks.CALL_LIMIT + ANSWER_LIMIT)


def _with_cache(requests: int, *, free: int, seconds: int = CACHE_SECONDS) -> Callable[[Capabilities], Cost]:
    """One cache is made, unless an earlier probe did, and each request is billed with it."""

    def cost(facts: Capabilities) -> Cost:
        kept = filler_tokens((facts.explicit_minimum or 0) * 5 // 4) + 20
        sent, answered = requests * (kept + 120), requests * ANSWER_LIMIT
        cached = requests * kept
        return Cost(requests + free + 1, sent, answered, cached, kept, seconds=2 * seconds)

    return cost


def _long_prefix(facts: Capabilities) -> Cost:
    return Cost(2, sent=2 * filler_tokens(checks.prefix_tokens(facts)) + 200, answered=2 * ANSWER_LIMIT)


def _provider_tool(facts: Capabilities) -> Cost:
    """One of the two requests is refused, and a refusal costs nothing."""
    return Cost(2, sent=400, answered=ANSWER_LIMIT, fee=wire_checks.provider_tool(facts)[1])


def _signing(facts: Capabilities) -> str:
    return "refused" if facts.signatures_required else "answered"


def _minimum(facts: Capabilities) -> str:
    return f"{facts.explicit_minimum} tokens" if facts.has_explicit_caches else "refused"


PROBES: tuple[Probe, ...] = (
    Probe(
        "limits",
        lambda facts: f"{facts.input_limit:,} in, {facts.output_limit:,} out",
        checks.limits,
        _free(1),
    ),
    Probe(
        "cache_method",
        lambda facts: cache_checks.caches(facts.has_explicit_caches),
        cache_checks.offers_caches,
        _free(1),
    ),
    Probe("unknown_model", _always("404"), checks.unknown_model, _free(1)),
    Probe("served_model", lambda facts: facts.family, checks.served_model, _small(1)),
    Probe("usage_sum", _always("prompt + output + thoughts = total"), checks.usage_sum, _small(1)),
    Probe("count_tokens", _always("counted as billed"), checks.count_tokens, _small(1, free=1)),
    Probe("token_estimate", _always("within 30 % of ours"), wire_checks.token_estimate, _free(5)),
    Probe(
        "thinking_level",
        lambda facts: ", ".join(facts.levels) or "refused",
        checks.thinking_level,
        _small(4, limit=16),
    ),
    Probe(
        "thinking_budget",
        lambda facts: "taken" if facts.thinking == "budget" else "not sent by us",
        checks.thinking_budget,
        _small(1),
    ),
    Probe("signature_demanded", _signing, checks.signature_demanded, _tool_round(1)),
    Probe("dummy_signature", _always("answered"), checks.dummy_signature, _tool_round(1)),
    Probe("altered_signature", _signing, checks.altered_signature, _tool_round(1)),
    Probe("signature_returned", _always("answered"), checks.signature_returned, _call_returned),
    Probe("signature_tampered", _signing, checks.signature_tampered, _call_returned),
    Probe("afc_order", _always("refused; in one content answered"), wire_checks.calls_apart, _tool_round(3)),
    Probe("continuation_request", _always("the field is known"), wire_checks.continuation_request, _small(1)),
    Probe(
        "builtin_with_functions",
        _always("refused without the flag"),
        wire_checks.builtin_with_functions,
        _provider_tool,
    ),
    Probe("cache_minimum", _minimum, cache_checks.cache_minimum, _free(1)),
    Probe(
        "cache_hit",
        _always("all of it cached"),
        cache_checks.cache_hit,
        _with_cache(1, free=0),
        caches=True,
    ),
    Probe(
        "cache_beside",
        _always("refused"),
        cache_checks.instruction_beside,
        _with_cache(1, free=0),
        caches=True,
    ),
    Probe(
        "cache_life",
        _always("made, named, extended, deleted"),
        cache_checks.cache_life,
        _with_cache(1, free=3),
        caches=True,
    ),
    Probe(
        "cache_expires",
        _always("403 after its time"),
        cache_checks.cache_expires,
        _with_cache(2, free=0, seconds=cache_checks.SHORT_LIFE),
        caches=True,
    ),
    Probe("implicit_prefix", _always("a hit the second time"), cache_checks.implicit_cache, _long_prefix),
    Probe(
        "usage_identities",
        _always("sums hold; cached in prompt"),
        wire_checks.usage_identities,
        _small(1),
    ),
)
