"""When the provider is asked for its list of caches."""

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest
from django.utils import timezone

from sessions_app.emulator import Emulator, EmulatorTransport
from sessions_app.gemini.gateway import Gateway
from sessions_app.models import CacheEntry
from sessions_app.runs import cache_janitor
from sessions_app.runs.cache_janitor import CacheJanitor, Reconciliation
from tests.runs.running import until


@pytest.fixture
async def gateway(transactional_db: None) -> AsyncIterator[Gateway]:
    gateway = Gateway(api_key="ours", transport=EmulatorTransport(Emulator(delay=0)))
    yield gateway
    await gateway.aclose()


@pytest.fixture
def listed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The endpoints that were asked."""
    asked: list[str] = []

    async def noted(gateway: Gateway) -> Reconciliation:
        asked.append(gateway.route)
        return Reconciliation()

    monkeypatch.setattr(cache_janitor, "reconcile", noted)
    return asked


async def run_one_round(gateway: Gateway) -> None:
    """The first, which reconciles, and the beginning of the second."""
    rounds = 0

    async def counted(_: Gateway) -> int:
        nonlocal rounds
        rounds += 1
        return 0

    async def was_second() -> bool:
        return rounds > 1

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cache_janitor, "apply_requested_changes", counted)
        patch.setattr(cache_janitor, "ROUND_SECONDS", 0.01)
        janitor = CacheJanitor(lambda: gateway)
        janitor.start()
        await until(was_second)
        await janitor.stop()


async def make_entry(route: str) -> None:
    later = timezone.now() + timedelta(hours=1)
    await CacheEntry.objects.acreate(
        fingerprint="f", route=route, model="m", name="cachedContents/f", expires_at=later
    )


async def test_where_we_asked_for_a_cache_the_caches_are_listed(gateway: Gateway, listed: list[str]) -> None:
    await make_entry(f"{gateway.route}/m")
    await run_one_round(gateway)
    assert listed == [gateway.route]


async def test_a_provider_that_made_none_of_our_caches_is_not_asked(
    gateway: Gateway, listed: list[str]
) -> None:
    await make_entry("other")
    await run_one_round(gateway)
    assert listed == []
