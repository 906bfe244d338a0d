"""The list of probes: each an assumption of ours, what it may cost to check, and how.

An assumption comes from the capability table where models differ in it, else from gemini-wire.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass
from datetime import UTC, datetime

from sessions_app.conform import cached, plain, signed
from sessions_app.conform.bench import Bench
from sessions_app.conform.report import Finding, Report, Row
from sessions_app.errors import BadKey, GatewayError, QuotaExceeded
from sessions_app.gemini.capabilities import Capabilities

Tokens = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Probe:
    """`expected` in words. `tokens` may be sent and answered at most, for the estimate of its cost.

    `caches`: only for models that have explicit ones.
    """

    name: str
    expected: Callable[[Capabilities], str]
    run: Callable[[Bench], Awaitable[Finding]]
    tokens: Callable[[Capabilities], Tokens] = lambda facts: (0, 0)
    caches: bool = False

    def why_not(self, bench: Bench, budget: float) -> str:
        """Why it is not run; empty when it can be."""
        if self.caches and not (bench.facts.has_explicit_caches and bench.gateway.has_explicit_caches):
            return "there are no explicit caches"
        estimate = bench.estimate(*self.tokens(bench.facts))
        if estimate and bench.spent + estimate > budget:
            return f"it may cost ${estimate:.4f}, and ${max(0.0, budget - bench.spent):.4f} is left"
        return ""


async def probing(bench: Bench, budget: float) -> AsyncGenerator[Row, None]:
    """The rows, each as soon as its probe is done. Raises BadKey: with a wrong key nothing can be found."""
    for probe in PROBES:
        before, at = bench.spent, datetime.now(UTC)
        why_not = probe.why_not(bench, budget)
        finding = Finding("skipped", why_not) if why_not else await _found(probe, bench)
        yield Row(probe.name, probe.expected(bench.facts), finding, bench.spent - before, at)


async def conform(bench: Bench, budget: float, show: Callable[[Row], None]) -> Report:
    """Runs every probe that the budget (US dollars) allows and leaves no cache behind. Raises BadKey."""
    began, rows = datetime.now(UTC), []
    try:
        async with aclosing(probing(bench, budget)) as found:
            async for row in found:
                show(row)
                rows.append(row)
    finally:
        left = await bench.clean_up()
    door = bench.gateway
    return Report(bench.model, door.label, door.is_emulator, began, budget, tuple(rows), left)


async def _found(probe: Probe, bench: Bench) -> Finding:
    try:
        return await probe.run(bench)
    except BadKey:
        raise
    except QuotaExceeded as error:
        return Finding("open", f"{error.code} {error.message[:80]}")
    except GatewayError as error:
        return Finding("failed", f"{error.code or 'no answer'} {error.message[:80]}")


def _always(words: str) -> Callable[[Capabilities], str]:
    return lambda facts: words


def _small(facts: Capabilities) -> Tokens:
    return 50, 256


def _levels(facts: Capabilities) -> Tokens:
    return 200, 64


def _tool_round(facts: Capabilities) -> Tokens:
    return 300, 256


def _one_cache(facts: Capabilities) -> Tokens:
    """Kept once, or read once."""
    return 2 * (facts.explicit_minimum or 0), 256


def _long_prefix(facts: Capabilities) -> Tokens:
    return 6 * facts.implicit_minimum, 512


def _signing(facts: Capabilities) -> str:
    return "refused" if facts.signatures_required else "answered"


def _minimum(facts: Capabilities) -> str:
    return f"{facts.explicit_minimum} tokens" if facts.has_explicit_caches else "refused"


PROBES: tuple[Probe, ...] = (
    Probe("limits", lambda facts: f"{facts.input_limit:,} in, {facts.output_limit:,} out", plain.limits),
    Probe("cache_method", lambda facts: plain.caches(facts.has_explicit_caches), plain.offers_caches),
    Probe("unknown_model", _always("404"), plain.unknown_model),
    Probe("served_model", lambda facts: facts.family, plain.served, _small),
    Probe("usage_sum", _always("prompt + output + thoughts = total"), plain.usage, _small),
    Probe("count_tokens", _always("counted as billed"), plain.counting, _small),
    Probe(
        "thinking_level", lambda facts: ", ".join(facts.levels) or "refused", plain.thinking_level, _levels
    ),
    Probe(
        "thinking_budget",
        lambda facts: "taken" if facts.thinking == "budget" else "not sent by us",
        plain.thinking_budget,
        _small,
    ),
    Probe("signature_demanded", _signing, signed.demanded, _tool_round),
    Probe("dummy_signature", _always("answered"), signed.stand_in, _tool_round),
    Probe("altered_signature", _signing, signed.altered, _tool_round),
    Probe("cache_minimum", _minimum, cached.minimum),
    Probe("cache_hit", _always("all of it cached"), cached.hit, _one_cache, caches=True),
    Probe("cache_beside", _always("refused"), cached.instruction_beside, _one_cache, caches=True),
    Probe("cache_life", _always("made, named, extended, deleted"), cached.life, _one_cache, caches=True),
    Probe("implicit_prefix", _always("a hit the second time"), cached.implicit, _long_prefix),
)
