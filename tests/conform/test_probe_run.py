"""A run of the probes: what it may cost, what it does when the provider fails, what it leaves behind."""

import asyncio
from decimal import Decimal

import httpx2
import orjson
import pytest

from sessions_app.conform.report import ConformanceReport, ProbeOutcome
from sessions_app.errors import BadKey
from tests.conform.helpers import Provider, bench, chosen, empty_report, failing, verdicts


async def test_no_probe_begins_that_could_exceed_the_budget() -> None:
    report = await bench(report=empty_report(budget="0.012")).run.run()
    assert 0 < report.usd <= Decimal("0.012")
    skipped = [probe for probe in report.probes if probe.verdict == "skipped"]
    assert skipped and all("is left" in probe.found for probe in skipped)


async def test_without_a_budget_only_what_is_free_is_asked() -> None:
    report = await bench(report=empty_report(budget="0")).run.run()
    asked = {name for name, verdict in verdicts(report).items() if verdict != "skipped"}
    assert asked == {"limits", "cache_method", "unknown_model", "token_estimate", "cache_minimum"}
    assert report.usd == 0


async def test_an_answer_that_broke_off_is_charged_with_all_it_could_have_cost() -> None:
    lost = Provider(lambda request: httpx2.ReadError("gone") if "stream" in request.url.path else None)
    made = bench(lost)
    made.run.chosen = chosen("served_model")
    report = await made.run.run()
    assert report.usd > 0 and report.usd == made.run.context.spent
    assert report.stopped_by and verdicts(report) == {"served_model": "failed"}


async def test_a_refusal_costs_nothing() -> None:
    made = bench()
    made.run.chosen = chosen("signature_demanded")
    assert (await made.run.run()).usd == 0


async def test_a_busy_provider_is_asked_again_when_it_says_so() -> None:
    busy = Provider(failing(429, "Slow down.", retry_after="7"))
    made = bench(busy)
    made.run.chosen = chosen("served_model")
    (probe,) = (await made.run.run()).probes
    assert probe.verdict == "same" and busy.waited == [7]
    assert len(probe.faults) == 1 and "429" in probe.faults[0]
    assert [exchange.status for exchange in probe.exchanges] == [200]


async def test_a_provider_that_stays_down_fails_the_probe_and_the_next_is_asked() -> None:
    down = Provider(failing(500, "Internal.", times=3))
    made = bench(down)
    made.run.chosen = chosen("served_model", "usage_sum")
    report = await made.run.run()
    assert verdicts(report) == {"served_model": "failed", "usage_sum": "same"} and not report.stopped_by
    assert down.waited == [2.0, 4.0]


async def test_a_wrong_key_ends_it_at_once_and_keeps_what_was_found() -> None:
    made = bench(key="invalid-key-of-forty-characters-for-this")
    with pytest.raises(BadKey):
        await made.run.run()
    assert made.provider.streams == 0 and made.run.report.stopped_by
    assert ConformanceReport.model_validate_json(made.stored[-1]).stopped_by


async def test_a_provider_that_is_away_ends_it_at_once() -> None:
    away = Provider(lambda request: httpx2.ConnectError("no way"))
    report = await bench(away).run.run()
    assert verdicts(report) == {"limits": "failed"} and "could not be reached" in report.stopped_by


async def test_a_resumed_run_asks_only_what_is_missing() -> None:
    away = Provider(
        lambda request: httpx2.ConnectError("no way") if len(away.requests) > 12 else None,
    )
    first = await bench(away).run.run()
    done = [name for name, verdict in verdicts(first).items() if verdict != "failed"]
    assert done and first.stopped_by
    again = bench(report=first)
    assert {probe.name for probe in again.run.plan().probes}.isdisjoint(done)
    spent = first.usd
    whole = await again.run.run()
    assert set(verdicts(whole).values()) <= {"same", "open"} and not whole.stopped_by
    assert whole.usd >= spent and whole.usd == again.run.context.spent


async def test_it_is_stored_after_each_probe() -> None:
    made = bench()
    made.run.chosen = chosen("limits", "cache_method", "unknown_model")
    await made.run.run()
    assert [len(orjson.loads(stored)["probes"]) for stored in made.stored] == [1, 2, 3, 3]


async def test_no_cache_is_left_behind() -> None:
    made = bench()
    await made.run.run()
    assert not made.provider.emulator.caches.all()


async def test_a_run_that_is_interrupted_leaves_no_cache_and_knows_what_it_spent() -> None:
    made = bench()

    def show(probe: ProbeOutcome) -> None:
        if probe.probe == "cache_hit":
            assert made.provider.emulator.caches.all()
            raise asyncio.CancelledError

    made.run.show = show
    with pytest.raises(asyncio.CancelledError):
        await made.run.run()
    assert not made.provider.emulator.caches.all()
    kept = ConformanceReport.model_validate_json(made.stored[-1])
    assert kept.usd > 0 and kept.left == 0 and verdicts(kept)["cache_hit"] == "same"


async def test_a_resumed_run_deletes_what_a_killed_one_left() -> None:
    """Its report says before each cache is made that one may be there; others' caches stay."""
    provider, stored = Provider(), list[str]()
    first = bench(provider)
    first.run.chosen = chosen("cache_hit")
    first.run.store = lambda report: stored.append(report.model_dump_json())
    await first.run.run()
    await bench(provider, empty_report(run="ba9876543210")).run.context.make_cache()
    await bench(provider).run.context.make_cache()
    assert len(provider.emulator.caches.all()) == 2
    resumed = bench(provider, ConformanceReport.model_validate_json(stored[0]))
    assert resumed.run.report.left == 1
    resumed.run.chosen = []
    await resumed.run.run()
    (kept,) = provider.emulator.caches.all()
    assert resumed.run.report.left == 0 and "ba9876543210" in str(kept.describe(provider.emulator.clock()))


async def test_a_probe_that_is_left_out_is_not_asked() -> None:
    made = bench()
    made.run.chosen, made.run.skipped = chosen("served_model"), frozenset({"served_model"})
    assert made.run.plan().usd == 0
    report = await made.run.run()
    assert verdicts(report) == {"served_model": "skipped"} and not made.provider.requests
    assert not report.has("served_model")
