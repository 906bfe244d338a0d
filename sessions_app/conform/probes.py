"""The list of probes: each an assumption of ours, what it may cost to check, and how.

An assumption comes from the capability table where models differ in it, else from gemini-wire.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from sessions_app.conform import checks
from sessions_app.conform.probe_context import Observation, ProbeContext
from sessions_app.errors import BadKey, GatewayError, QuotaExceeded
from sessions_app.gemini.model_capabilities import Capabilities

Tokens = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Probe:
    """`expected` is a text. `tokens` may be sent and answered at most, for the estimate of its cost.

    `caches`: only for models that have explicit ones.
    """

    name: str
    expected: Callable[[Capabilities], str]
    run: Callable[[ProbeContext], Awaitable[Observation]]
    tokens: Callable[[Capabilities], Tokens] = lambda facts: (0, 0)
    caches: bool = False

    def skip_reason(self, context: ProbeContext, budget: float) -> str:
        """Why it is not run; empty when it can be."""
        if self.caches and not (context.facts.has_explicit_caches and context.gateway.has_explicit_caches):
            return "there are no explicit caches"
        estimate = context.estimate(*self.tokens(context.facts))
        if estimate and context.spent + estimate > budget:
            return f"it may cost ${estimate:.4f}, and ${max(0.0, budget - context.spent):.4f} is left"
        return ""


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """One probe's line. `usd` is what it cost, by the provider's counts and our rates."""

    probe: str
    expected: str
    finding: Observation
    usd: float
    at: datetime

    @property
    def line(self) -> str:
        finding = self.finding
        return (
            f"{self.at:%Y-%m-%d}  {finding.verdict:<8} {self.probe:<19} {self.expected:<34} {finding.found}"
        )


@dataclass(frozen=True, slots=True)
class ConformanceReport:
    """All of one run; holds no key and no text of a person."""

    model: str
    provider: str
    is_emulator: bool
    began: datetime
    budget: float
    rows: tuple[ProbeResult, ...]
    left: str = ""
    """A cache that could not be deleted; it expires in two minutes."""

    @property
    def usd(self) -> float:
        return sum(row.usd for row in self.rows)

    @property
    def differs(self) -> tuple[ProbeResult, ...]:
        return tuple(row for row in self.rows if row.finding.verdict == "differs")

    def learned(self) -> dict[str, Any]:
        """What the capability table should say of this model, by field."""
        return {name: value for row in self.rows for name, value in row.finding.learned.items()}

    def as_json(self) -> dict[str, Any]:
        return asdict(self) | {"usd": round(self.usd, 6), "learned": self.learned()}

    def lines(self) -> list[str]:
        """The table, one line a probe, and a line that sums it up."""
        return [*(row.line for row in self.rows), self._sum()]

    def _sum(self) -> str:
        verdicts = [row.finding.verdict for row in self.rows]
        counts: Sequence[str] = [f"{verdicts.count(one)} {one}" for one in dict.fromkeys(verdicts)]
        return f"{self.model} at {self.provider}: {', '.join(counts)}; ${self.usd:.4f} of ${self.budget:.2f}"


async def run_probes(context: ProbeContext, budget: float) -> AsyncGenerator[ProbeResult, None]:
    """The rows, each as soon as its probe is done. Raises BadKey: with a wrong key nothing can be found."""
    for probe in PROBES:
        before, at = context.spent, datetime.now(UTC)
        skip_reason = probe.skip_reason(context, budget)
        finding = Observation("skipped", skip_reason) if skip_reason else await _run_probe(probe, context)
        yield ProbeResult(probe.name, probe.expected(context.facts), finding, context.spent - before, at)


async def conform(
    context: ProbeContext, budget: float, show: Callable[[ProbeResult], None]
) -> ConformanceReport:
    """Runs every probe that the budget (US dollars) allows and leaves no cache behind. Raises BadKey."""
    began, rows = datetime.now(UTC), []
    try:
        async with aclosing(run_probes(context, budget)) as found:
            async for row in found:
                show(row)
                rows.append(row)
    finally:
        left = await context.clean_up()
    gateway = context.gateway
    return ConformanceReport(
        context.model, gateway.label, gateway.is_emulator, began, budget, tuple(rows), left
    )


async def _run_probe(probe: Probe, context: ProbeContext) -> Observation:
    try:
        return await probe.run(context)
    except BadKey:
        raise
    except QuotaExceeded as error:
        return Observation("open", f"{error.code} {error.message[:80]}")
    except GatewayError as error:
        return Observation("failed", f"{error.code or 'no answer'} {error.message[:80]}")


def _always(text: str) -> Callable[[Capabilities], str]:
    return lambda facts: text


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
    Probe("limits", lambda facts: f"{facts.input_limit:,} in, {facts.output_limit:,} out", checks.limits),
    Probe("cache_method", lambda facts: checks.caches(facts.has_explicit_caches), checks.offers_caches),
    Probe("unknown_model", _always("404"), checks.unknown_model),
    Probe("served_model", lambda facts: facts.family, checks.served_model, _small),
    Probe("usage_sum", _always("prompt + output + thoughts = total"), checks.usage_sum, _small),
    Probe("count_tokens", _always("counted as billed"), checks.count_tokens, _small),
    Probe(
        "thinking_level", lambda facts: ", ".join(facts.levels) or "refused", checks.thinking_level, _levels
    ),
    Probe(
        "thinking_budget",
        lambda facts: "taken" if facts.thinking == "budget" else "not sent by us",
        checks.thinking_budget,
        _small,
    ),
    Probe("signature_demanded", _signing, checks.signature_demanded, _tool_round),
    Probe("dummy_signature", _always("answered"), checks.dummy_signature, _tool_round),
    Probe("altered_signature", _signing, checks.altered_signature, _tool_round),
    Probe("cache_minimum", _minimum, checks.cache_minimum),
    Probe("cache_hit", _always("all of it cached"), checks.cache_hit, _one_cache, caches=True),
    Probe("cache_beside", _always("refused"), checks.instruction_beside, _one_cache, caches=True),
    Probe(
        "cache_life", _always("made, named, extended, deleted"), checks.cache_life, _one_cache, caches=True
    ),
    Probe("implicit_prefix", _always("a hit the second time"), checks.implicit_cache, _long_prefix),
)
