"""What a round of the janitor does at the provider, and when it asks for its list of caches."""

from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any
from unittest.mock import AsyncMock

import pytest
from asgiref.sync import sync_to_async
from django.utils import timezone

from sessions_app.emulator import Emulator, EmulatorTransport
from sessions_app.errors import ProviderDown
from sessions_app.gemini.gateway import Gateway
from sessions_app.models import CacheEntry
from sessions_app.prompt.caching import EntryReason
from sessions_app.runs import cache_janitor
from sessions_app.runs.cache_janitor import CacheJanitor, Reconciliation, _apply_change, reconcile
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


async def make_entry(route: str, **facts: Any) -> CacheEntry:
    later = timezone.now() + timedelta(hours=1)
    known = {"fingerprint": "f", "model": "m", "name": "cachedContents/f", "expires_at": later}
    return await CacheEntry.objects.acreate(route=route, **known | facts)


async def test_where_we_asked_for_a_cache_the_caches_are_listed(gateway: Gateway, listed: list[str]) -> None:
    await make_entry(f"{gateway.route}/m")
    await run_one_round(gateway)
    assert listed == [gateway.route]


async def test_a_provider_that_made_none_of_our_caches_is_not_asked(
    gateway: Gateway, listed: list[str]
) -> None:
    await make_entry("other")
    await make_entry(f"{gateway.route}/m", fingerprint="of a program", is_programs=True)
    await run_one_round(gateway)
    assert listed == []


async def test_each_round_deletes_files_at_the_provider(
    gateway: Gateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    removed = AsyncMock(return_value=0)
    monkeypatch.setattr(cache_janitor, "remove_files", removed)
    await run_one_round(gateway)
    removed.assert_awaited_with(gateway)


@pytest.mark.parametrize("is_kept", [True, False])
async def test_a_deletion_is_asked_for_unless_a_request_kept_the_cache_and_may_be_tried_again(
    gateway: Gateway, monkeypatch: pytest.MonkeyPatch, is_kept: bool
) -> None:
    entry = await make_entry(gateway.route, state=CacheEntry.State.TO_DELETE, reason=EntryReason.REPLACED)
    down = AsyncMock(side_effect=ProviderDown("down"))
    monkeypatch.setattr(gateway, "delete_cache", down)
    if is_kept:
        assert await sync_to_async(CacheEntry.objects.keep)(entry.pk)
    await _apply_change(gateway, entry)
    await entry.arefresh_from_db()
    assert down.await_count == (not is_kept) and entry.leased_until is None
    assert entry.state == (CacheEntry.State.LIVE if is_kept else CacheEntry.State.TO_DELETE)


async def test_what_the_list_does_not_have_is_lost_only_where_it_was_made_before(gateway: Gateway) -> None:
    now, later = timezone.now(), timezone.now() + timedelta(hours=1)
    claimed = {"state": CacheEntry.State.PENDING, "name": "", "expires_at": None}
    await make_entry(gateway.route, fingerprint="lost", made_at=now)
    await make_entry(gateway.route, fingerprint="since", made_at=later, name="cachedContents/new")
    await make_entry(gateway.route, fingerprint="claimed", leased_until=later, **claimed)
    assert (await reconcile(gateway)).lost == 1
    states = {entry.fingerprint: entry.state async for entry in CacheEntry.objects.all()}
    assert states == {"lost": "gone", "since": "live", "claimed": "pending"}
