"""Our assumptions against our emulator: both are ours, and they must agree."""

import dataclasses
from collections.abc import AsyncIterator
from decimal import Decimal

import httpx2
import pytest

from sessions_app.conform.probe_context import ProbeContext
from sessions_app.conform.probes import PROBES, ConformanceReport, conform
from sessions_app.emulator import Emulator, EmulatorTransport
from sessions_app.errors import BadKey
from sessions_app.gemini.gateway import Gateway
from sessions_app.gemini.model_capabilities import capabilities_of
from sessions_app.prompt.pricing import Rates

MODEL = "gemini-3-flash-preview"
FREE = Rates(Decimal(0), Decimal(0), Decimal(0))


@pytest.fixture
async def gateway() -> AsyncIterator[Gateway]:
    gateway = Gateway.to_emulator(EmulatorTransport(Emulator(delay=0)))
    yield gateway
    await gateway.aclose()


async def checked(context: ProbeContext, budget: float = 1.0) -> ConformanceReport:
    return await conform(context, budget, lambda row: None)


def verdicts(report: ConformanceReport) -> dict[str, str]:
    return {row.probe: row.finding.verdict for row in report.rows}


@pytest.mark.parametrize(
    "model", [MODEL, "gemini-3.1-pro-preview", "gemini-flash-latest", "gemini-2.5-flash", "gemini-4-argon"]
)
async def test_the_emulator_does_what_we_assume(gateway: Gateway, model: str) -> None:
    report = await checked(ProbeContext(gateway, capabilities_of(model)))
    assert not report.differs and not report.left
    assert set(verdicts(report).values()) <= {"same", "skipped"}
    assert list(verdicts(report)) == [probe.name for probe in PROBES]


async def test_what_is_not_as_assumed_is_told_and_learned(gateway: Gateway) -> None:
    wrong = dataclasses.replace(capabilities_of(MODEL), explicit_minimum=2_000, signatures_required=False)
    report = await checked(ProbeContext(gateway, wrong))
    assert [row.probe for row in report.differs] == [
        "signature_demanded",
        "altered_signature",
        "cache_minimum",
    ]
    learned = report.learned()
    assert (learned["explicit_minimum"], learned["signatures_required"]) == (1_024, True)


async def test_no_probe_begins_that_could_exceed_the_budget(gateway: Gateway) -> None:
    report = await checked(ProbeContext(gateway, capabilities_of(MODEL)), budget=0.012)
    assert report.usd <= 0.012
    skipped = [row for row in report.rows if row.finding.verdict == "skipped"]
    assert skipped and all("is left" in row.finding.found for row in skipped)


async def test_without_a_budget_only_what_is_free_is_asked(gateway: Gateway) -> None:
    report = await checked(ProbeContext(gateway, capabilities_of(MODEL)), budget=0)
    asked = {row.probe for row in report.rows if row.finding.verdict != "skipped"}
    assert asked == {"limits", "cache_method", "unknown_model", "cache_minimum"} and report.usd == 0


@pytest.mark.parametrize("model", [MODEL, "gemini-2.5-flash", "gemini-4-argon"])
@pytest.mark.parametrize("probe", PROBES, ids=lambda probe: probe.name)
async def test_an_estimate_is_never_below_the_bill(gateway: Gateway, probe: object, model: str) -> None:
    (one,) = (found for found in PROBES if found is probe)
    context = ProbeContext(gateway, capabilities_of(model))
    if not one.skip_reason(context, 1.0):
        await one.run(context)
    assert context.spent <= context.estimate(*one.tokens(context.facts))
    await context.clean_up()


async def test_no_cache_is_left_behind(gateway: Gateway) -> None:
    await checked(ProbeContext(gateway, capabilities_of(MODEL), FREE))
    assert await gateway.list_caches() == ()


async def test_a_run_that_breaks_off_leaves_no_cache_either(gateway: Gateway) -> None:
    class Tired(Exception):
        pass

    def show(row: object) -> None:
        if getattr(row, "probe", "") == "cache_hit":
            raise Tired

    with pytest.raises(Tired):
        await conform(ProbeContext(gateway, capabilities_of(MODEL), FREE), 1.0, show)
    assert await gateway.list_caches() == ()


async def test_a_wrong_key_ends_it_at_once() -> None:
    gateway = Gateway(api_key="invalid", transport=EmulatorTransport(Emulator(delay=0)))
    with pytest.raises(BadKey):
        await checked(ProbeContext(gateway, capabilities_of(MODEL)))
    await gateway.aclose()


async def test_a_provider_that_is_away_fails_each_probe_and_says_so() -> None:
    class Away(httpx2.AsyncBaseTransport):
        async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
            raise httpx2.ConnectError("no way")

    gateway = Gateway(api_key="key", transport=Away())
    report = await checked(ProbeContext(gateway, capabilities_of(MODEL), FREE))
    await gateway.aclose()
    assert set(verdicts(report).values()) == {"failed"}
    assert "ConnectError" in report.rows[0].finding.found
