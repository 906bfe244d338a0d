"""Our assumptions against our emulator: both are ours, and they must agree."""

import dataclasses
from decimal import Decimal

import pytest

from sessions_app.conform.probes import PROBES, Probe
from sessions_app.gemini.model_capabilities import capabilities_of
from tests.conform.helpers import MODEL, RATES, bench, chosen, empty_report, verdicts


@pytest.mark.parametrize(
    "model", [MODEL, "gemini-3.1-pro-preview", "gemini-flash-latest", "gemini-2.5-flash", "gemini-4-argon"]
)
async def test_the_emulator_does_what_we_assume(model: str) -> None:
    report = await bench(report=empty_report(model)).run.run()
    assert not report.differs and not report.left
    found = verdicts(report)
    assert set(found.values()) <= {"same", "skipped"}
    assert list(found) == [probe.name for probe in PROBES]


async def test_what_is_not_as_assumed_is_told_and_learned() -> None:
    wrong = dataclasses.replace(capabilities_of(MODEL), explicit_minimum=2_000, signatures_required=False)
    report = await bench(facts=wrong).run.run()
    assert [probe.probe for probe in report.differs] == [
        "signature_demanded",
        "altered_signature",
        "signature_tampered",
        "cache_minimum",
    ]
    learned = report.learned()
    assert (learned["explicit_minimum"], learned["signatures_required"]) == (1_024, True)


@pytest.mark.parametrize("model", [MODEL, "gemini-2.5-flash", "gemini-4-argon"])
@pytest.mark.parametrize("probe", PROBES, ids=lambda probe: probe.name)
async def test_an_estimate_is_never_below_the_bill(probe: Probe, model: str) -> None:
    """The estimate is the limit of the probe's requests: a request above it would skip the probe."""
    one = bench(report=empty_report(model)).run
    one.chosen = [probe]
    report = await one.run()
    assert verdicts(report)[probe.name] != "skipped" or probe.skip_reason(one.context)
    assert report.usd <= probe.cost(one.context.facts).usd(RATES)


async def test_the_plan_of_the_default_model_is_within_the_bound() -> None:
    plan = bench().run.plan()
    assert Decimal("0.02") < plan.usd <= Decimal("0.05")
    assert plan.requests == sum(probe.cost.requests for probe in plan.probes)


async def test_a_plan_never_counts_fewer_requests_than_are_sent() -> None:
    made = bench()
    planned = made.run.plan().requests
    await made.run.run()
    listing_and_deleting_at_the_end = 2
    assert len(made.provider.requests) <= planned + listing_and_deleting_at_the_end


async def test_afc_is_asked_in_the_order_of_the_sdk() -> None:
    """One content for each streamed chunk of the model, the last one empty, then both answers in one."""
    made = bench()
    made.run.chosen = chosen("afc_order")
    report = await made.run.run()
    (probe,) = report.probes
    sent = probe.exchanges[0].request
    order = [sent.index(mark) for mark in ('"Paris"', '"London"', '{"text":""}', '"functionResponse"')]
    assert order == sorted(order) and sent.count('"role":"model"') == 3 and sent.count('"role":"user"') == 2
    assert probe.figures == {"apart": False, "apart_signed": False, "together": True}


async def test_estimates_are_compared_text_by_text() -> None:
    made = bench()
    made.run.chosen = chosen("token_estimate")
    (probe,) = (await made.run.run()).probes
    assert set(probe.figures) == {"english", "german", "chinese", "code", "json"}
    assert probe.usd == 0 and made.provider.streams == 0


async def test_a_cache_that_nobody_extends_is_gone_after_its_time() -> None:
    made = bench()
    made.run.chosen = chosen("cache_expires")
    (probe,) = (await made.run.run()).probes
    assert probe.verdict == "same" and made.provider.waited == [10, 2.0]


async def test_every_answer_counts_for_the_identities() -> None:
    report = await bench().run.run()
    figures = next(probe.figures for probe in report.probes if probe.probe == "usage_identities")
    assert isinstance(figures["answers"], int) and figures["answers"] > 10
    assert figures["with_cached"] and figures["wrong_sums"] == figures["wrong_shares"] == 0
