"""The caretaker of our caches: it deletes what nobody needs, prolongs what an admin asked for, and finds
what a crash left behind. Whatever does not bear this deployment's name is never touched."""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import structlog
from asgiref.sync import sync_to_async
from django.db import DatabaseError
from django.utils import timezone

from sessions_app.errors import GatewayError
from sessions_app.gemini.answers import CacheListed
from sessions_app.gemini.gateway import Gateway
from sessions_app.models import CacheEntry
from sessions_app.models.cache import deployment
from sessions_app.prompt.caching import display_name
from sessions_app.runs.keeping import book, delete, prolong

ROUND_SECONDS = 10.0
"""How late a deleted session's cache is deleted. A round without an errand is one small query."""

INVENTORY_ROUNDS = 60
"""Every so many rounds, the first included, the provider is asked for its list."""

log = structlog.get_logger("pipeweb.caches")


@dataclass
class Inventory:
    """What the provider's list says beside ours."""

    adopted: list[str] = field(default_factory=list)
    strays: list[str] = field(default_factory=list)
    lost: int = 0


class Caretaker:
    """Makes its rounds while the process serves. Several processes may: every step can be done twice."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begins when a loop is running; calling it again does nothing."""
        if self._task is None and self._gateway.has_explicit_caches:
            self._task = asyncio.get_running_loop().create_task(self._go_round())

    async def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _go_round(self) -> None:
        rounds = 0
        while True:
            try:
                await run_errands(self._gateway)
                if rounds % INVENTORY_ROUNDS == 0 and await CacheEntry.objects.aexists():
                    await take_inventory(self._gateway)
            except (GatewayError, DatabaseError) as error:
                log.warning("round_failed", kind=type(error).__name__)
            rounds += 1
            await asyncio.sleep(ROUND_SECONDS)


async def run_errands(gateway: Gateway) -> int:
    """Deletes and prolongs what the rows ask for; answers how many entries that were."""
    errands = [entry async for entry in CacheEntry.objects.errands(gateway.route)]
    for entry in errands:
        if entry.state == CacheEntry.State.DOOMED:
            if await delete(gateway, entry.name):
                await sync_to_async(bury)(entry)
        elif entry.wanted_until is not None:
            left = max(entry.wanted_until - timezone.now(), timedelta(seconds=1))
            await prolong(gateway, entry.name, left)
    return len(errands)


async def take_inventory(gateway: Gateway) -> Inventory:
    """Compares the provider's list with the rows: adopts what a crash left before its row was written,
    deletes what no row knows, and marks what the provider no longer has. Raises GatewayError."""
    began = timezone.now()
    listed = await gateway.list_caches()
    found = await sync_to_async(_compare)(gateway.route, listed, began)
    for name in found.strays:
        await delete(gateway, name)
    if found.adopted or found.strays or found.lost:
        log.info("caches_tidied", adopted=len(found.adopted), deleted=len(found.strays), lost=found.lost)
    return found


def ours(listed: Iterable[CacheListed]) -> list[CacheListed]:
    """Those that bear this deployment's name."""
    return [cache for cache in listed if cache.display_name.startswith(display_name(deployment(), ""))]


def bury(entry: CacheEntry) -> None:
    """The provider no longer keeps it; the storage that was booked and is now not used is given back."""
    left = (entry.expires_at or timezone.now()) - timezone.now()
    entry.drop(entry.reason)
    if left > timedelta():
        book(entry, -left)


def _compare(door: str, listed: Iterable[CacheListed], began: datetime) -> Inventory:
    found = Inventory()
    held = (CacheEntry.State.LIVE, CacheEntry.State.DOOMED, CacheEntry.State.PENDING)
    entries = list(CacheEntry.objects.of_door(door).filter(state__in=held))
    known = {entry.name for entry in entries}
    claims = {entry.display_name: entry for entry in entries if entry.state == CacheEntry.State.PENDING}
    for cache in ours(listed):
        if cache.name not in known:
            _place(cache, claims.get(cache.display_name), began, found)
    names = {cache.name for cache in listed}
    for entry in entries:
        if entry.state == CacheEntry.State.LIVE and entry.name not in names and _is_older(entry, began):
            entry.drop("The provider no longer lists it.")
            found.lost += 1
    return found


def _place(cache: CacheListed, claim: CacheEntry | None, began: datetime, found: Inventory) -> None:
    """A cache of ours that no row names: being made now, left by a crash, or nobody's."""
    if claim is not None and claim.is_claimed(began):
        return
    expires = cache.expires or began
    if claim is not None and CacheEntry.objects.remember(
        claim.fingerprint, name=cache.name, tokens=cache.tokens, expires=expires
    ):
        found.adopted.append(cache.name)
    else:
        found.strays.append(cache.name)


def _is_older(entry: CacheEntry, began: datetime) -> bool:
    """Whether it was made before the list was asked for."""
    return entry.made_at is None or entry.made_at < began
