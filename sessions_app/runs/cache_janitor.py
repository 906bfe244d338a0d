"""Periodic maintenance of explicit caches: expiries, deletions, extensions, reconciliation with the provider.

Caches whose display name is not of this deployment are never touched.
"""

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import structlog
from django.db import transaction
from django.utils import timezone

from sessions_app.database import database_sync_to_async
from sessions_app.errors import GatewayError
from sessions_app.gemini.gateway import Gateway
from sessions_app.gemini.http_evidence import HttpEvidence
from sessions_app.gemini.provider_resources import CacheListed
from sessions_app.models import CacheEntry
from sessions_app.models.cache import deployment
from sessions_app.prompt.caching import EntryReason, display_name
from sessions_app.prompt.pricing import MoneySource
from sessions_app.runs.background import BackgroundTask, isolated, readable
from sessions_app.runs.cache_bookings import KeptCache, book_creation, record_end, session_that_made
from sessions_app.runs.cache_lifecycle import delete_cache, extend_cache
from sessions_app.runs.file_removal import remove_files
from sessions_app.runs.money_source import source_of_answer

ROUND_SECONDS = 10.0
"""Time between rounds; a round without changes is one query."""

RECONCILE_ROUNDS = 60
"""Rounds between two reconciliations; the first is one. None where no cache of ours was ever asked for."""

log = structlog.get_logger("pipeweb.caches")


@dataclass
class Reconciliation:
    """Differences found: names adopted, caches that no row knows, and rows whose cache is gone.

    `deleted` counts the unknown ones that the provider no longer has; the others are found again.
    """

    adopted: list[str] = field(default_factory=list)
    unknown: list[CacheListed] = field(default_factory=list)
    deleted: int = 0
    lost: int = 0


class CacheJanitor:
    """Runs while the process serves. All steps are idempotent, so several processes may run one."""

    def __init__(self, gateway: Callable[[], Gateway]) -> None:
        """`gateway` is asked in each round, since the API key may have changed."""
        self._gateway = gateway
        self._rounds = BackgroundTask("janitor_ended", self._run_rounds)
        self.stop = self._rounds.stop

    def start(self) -> None:
        """Begins where the gateway has explicit caches; calling it again does nothing."""
        if self._gateway().has_explicit_caches:
            self._rounds.start()

    async def _run_rounds(self) -> None:
        rounds = 0
        while True:
            with isolated("round_failed"):
                await self._round(with_inventory=rounds % RECONCILE_ROUNDS == 0)
            rounds += 1
            await asyncio.sleep(ROUND_SECONDS)

    async def _round(self, *, with_inventory: bool) -> None:
        await database_sync_to_async(record_expiries)()
        try:
            gateway = self._gateway()
            await apply_requested_changes(gateway)
            await remove_files(gateway)
            kept_there = CacheEntry.objects.ours().on_endpoint(gateway.route)
            if with_inventory and await database_sync_to_async(kept_there.exists)():
                await reconcile(gateway)
        except GatewayError as error:
            log.warning("provider_failed", kind=type(error).__name__)


async def apply_requested_changes(gateway: Gateway) -> int:
    """Deletes and extends caches as the rows request; returns the number of entries."""
    pending = CacheEntry.objects.pending_actions(gateway.route)
    entries = await database_sync_to_async(readable)(pending, "cache_not_read")
    for entry in entries:
        with isolated("errand_failed", cache=entry.name):
            await _apply_change(gateway, entry)
    return len(entries)


async def _apply_change(gateway: Gateway, entry: CacheEntry) -> None:
    if entry.state == CacheEntry.State.TO_DELETE:
        # A request may have kept it since it was read.
        if not await database_sync_to_async(CacheEntry.objects.begin_deletion)(entry.pk):
            return
        if await delete_cache(gateway, entry.name):
            await database_sync_to_async(record_end)(entry, entry.reason, entry.said)
        else:
            await database_sync_to_async(CacheEntry.objects.give_up_deletion)(entry.pk)
    elif entry.wanted_until is not None:
        left = max(entry.wanted_until - timezone.now(), timedelta(seconds=1))
        await extend_cache(gateway, entry.name, left)


async def reconcile(gateway: Gateway) -> Reconciliation:
    """Compares the provider's list with the rows: adopts caches whose creation a crash interrupted,
    deletes unknown ones, and marks rows whose cache is gone. Raises GatewayError."""
    began = timezone.now()
    evidence = HttpEvidence()
    with evidence.recording():
        listed = await gateway.list_caches()
    source = source_of_answer(gateway, evidence)
    found = await database_sync_to_async(_compare)(gateway.route, source, listed, began)
    for cache in found.unknown:
        found.deleted += await _delete_unknown(gateway, cache)
    if found.adopted or found.unknown or found.lost:
        log.info("caches_tidied", adopted=len(found.adopted), deleted=found.deleted, lost=found.lost)
    return found


async def _delete_unknown(gateway: Gateway, cache: CacheListed) -> bool:
    """Deletes a cache that no row knows. Since when it was paid for, and by whom, no row says either."""
    is_gone = await delete_cache(gateway, cache.name)
    event = "unknown_cache_deleted" if is_gone else "unknown_cache_not_deleted"
    log.warning(event, cache=cache.name, model=cache.model, tokens=cache.tokens, usd="unknown")
    return is_gone


def record_expiries() -> None:
    """Writes the end of caches that nobody has asked about since: the clock knows it, at any provider."""
    for entry in readable(CacheEntry.objects.has_expired(), "cache_not_read"):
        with isolated("expiry_failed", cache=entry.name):
            CacheEntry.objects.filter(pk=entry.pk).expire()


def owned_caches(listed: Iterable[CacheListed]) -> list[CacheListed]:
    """Those whose display name is of this deployment."""
    return [cache for cache in listed if cache.display_name.startswith(display_name(deployment(), ""))]


def _compare(
    route: str, source: MoneySource, listed: Iterable[CacheListed], began: datetime
) -> Reconciliation:
    found = Reconciliation()
    held = (CacheEntry.State.LIVE, CacheEntry.State.TO_DELETE, CacheEntry.State.PENDING)
    ours = CacheEntry.objects.ours().on_endpoint(route)
    entries = readable(ours.filter(state__in=held), "cache_not_read")
    known = {entry.name for entry in entries}
    pending = {entry.display_name: entry for entry in entries if entry.state == CacheEntry.State.PENDING}
    for cache in owned_caches(listed):
        if cache.name not in known:
            _adopt_or_discard(cache, pending.get(cache.display_name), source, began, found)
    names = {cache.name for cache in listed}
    for entry in entries:
        if entry.state == CacheEntry.State.LIVE and entry.name not in names and _existed_before(entry, began):
            record_end(entry, EntryReason.NOT_LISTED)
            found.lost += 1
    return found


@transaction.atomic
def _adopt_or_discard(
    cache: CacheListed,
    pending_entry: CacheEntry | None,
    source: MoneySource,
    began: datetime,
    found: Reconciliation,
) -> None:
    """Handles our cache that no row names: being created, left by a crash, or unknown."""
    if pending_entry is not None and pending_entry.is_claimed(began):
        return
    expires = cache.expires or began
    if pending_entry is not None and CacheEntry.objects.remember(
        pending_entry.fingerprint, name=cache.name, tokens=cache.tokens, expires=expires
    ):
        found.adopted.append(cache.name)
        made = KeptCache(cache.name, pending_entry.model, pending_entry.route, cache.tokens)
        lifetime = max(expires - timezone.now(), timedelta())
        maker = session_that_made(pending_entry)
        book_creation(made, maker, lifetime, pending_entry.owner_id, source=source)
    else:
        found.unknown.append(cache)


def _existed_before(entry: CacheEntry, began: datetime) -> bool:
    """Whether the cache existed when the list was requested."""
    return entry.made_at is None or entry.made_at < began
