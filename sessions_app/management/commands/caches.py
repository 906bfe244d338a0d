"""`manage.py caches`: lists the caches at the provider; extends and deletes those of this deployment."""

import asyncio
from argparse import ArgumentParser
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db.models import Count
from django.utils import timezone

from sessions_app.context.api_key import keys
from sessions_app.context.outbound import provider_transport
from sessions_app.database import database_sync_to_async
from sessions_app.errors import PipewebError
from sessions_app.gemini.gateway import Gateway
from sessions_app.gemini.provider_resources import CacheListed
from sessions_app.hosts import GOOGLE
from sessions_app.key_codes import KeyOrigin
from sessions_app.management.bounded_arguments import whole_number
from sessions_app.models import CacheEntry
from sessions_app.prompt.caching import EntryReason
from sessions_app.prompt.pricing import dollars, storage_cost
from sessions_app.runs.cache_bookings import record_end
from sessions_app.runs.cache_janitor import owned_caches, reconcile
from sessions_app.runs.cache_lifecycle import delete_cache, extend_cache
from sessions_app.runs.serving import model_of_cache, price_of_served
from sessions_app.wording.api_key import ORIGINS

NO_KEY = (
    "The built-in emulator keeps its caches inside the server’s process, where this command cannot reach. "
    "Set GEMINI_API_KEY, and GOOGLE_GEMINI_BASE_URL for a stand-alone emulator, or use the admin’s pages."
)
LONGEST_MINUTES = 365 * 24 * 60

HEADING = (
    f"{'name':<56}{'model':<26}{'tokens':>9}{'age':>9}{'left':>9}"
    f"{'stored':>12}{'hits':>6}{'sessions':>9}  state"
)


class Command(BaseCommand):
    help = "List the explicit caches at the provider; extend and delete those of this deployment."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("action", nargs="?", default="list", choices=("list", "extend", "delete", "tidy"))
        parser.add_argument("names", nargs="*", help="cachedContents/… as the list shows them")
        parser.add_argument("--all-ours", action="store_true", help="every cache of this deployment")
        parser.add_argument(
            "--minutes",
            type=whole_number(1, LONGEST_MINUTES),
            default=60,
            help="how long from now (%(default)s)",
        )

    def handle(self, *args: Any, action: str, names: list[str], **options: Any) -> None:
        key = keys.current()
        if not key.text:
            raise CommandError(ORIGINS[key.origin] if key.origin is KeyOrigin.UNREADABLE else NO_KEY)
        try:
            asyncio.run(self._act(action, names, options))
        except PipewebError as error:
            raise CommandError(f"{error}\n{error.hint}".strip()) from error

    async def _act(self, action: str, names: list[str], options: dict[str, Any]) -> None:
        base_url = settings.GOOGLE_GEMINI_BASE_URL or GOOGLE
        transport = provider_transport(base_url)
        gateway = Gateway(api_key=keys.current().text, base_url=base_url, transport=transport)
        try:
            if action == "tidy":
                await self._tidy(gateway)
                return
            listed = await gateway.list_caches()
            if action == "list":
                for line in await database_sync_to_async(table)(listed, timezone.now()):
                    self.stdout.write(line)
                return
            chosen = choose(listed, names, all_ours=options["all_ours"])
            lifetime = timedelta(minutes=options["minutes"])
            if action == "extend":
                chosen = self._without_longer_lived(listed, chosen, timezone.now() + lifetime)
            await self._each(chosen, action, lambda name: self._one(gateway, action, name, lifetime))
        finally:
            await gateway.aclose()

    def _without_longer_lived(
        self, listed: Sequence[CacheListed], names: Sequence[str], until: datetime
    ) -> list[str]:
        """Leaves out caches that end later: an extension would shorten their life."""
        longer = {cache.name: cache.expires for cache in listed if cache.expires and cache.expires >= until}
        for name in names:
            if name in longer:
                self.stdout.write(f"Kept {name}: it lives until {longer[name]:%Y-%m-%d %H:%M} UTC anyway")
        return [name for name in names if name not in longer]

    async def _tidy(self, gateway: Gateway) -> None:
        # Raises where there are no tables; reading the rows one by one would log it for each.
        await database_sync_to_async(CacheEntry.objects.exists)()
        found = await reconcile(gateway)
        self.stdout.write(
            f"{len(found.adopted)} adopted, {found.deleted} deleted, {found.lost} rows without a cache."
        )
        if left := len(found.unknown) - found.deleted:
            raise CommandError(f"{left} of {len(found.unknown)} could not be deleted. Try again.")

    async def _each(self, names: Sequence[str], action: str, act: Callable[[str], Awaitable[bool]]) -> None:
        done = [name for name in names if await act(name)]
        word = "Extended" if action == "extend" else "Deleted"
        for name in done:
            self.stdout.write(f"{word} {name}")
        if len(done) < len(names):
            raise CommandError(f"{len(names) - len(done)} of {len(names)} could not be reached. Try again.")

    async def _one(self, gateway: Gateway, action: str, name: str, lifetime: timedelta) -> bool:
        entry = await database_sync_to_async(CacheEntry.objects.filter(name=name).first)()
        if action == "extend":
            return await extend_cache(gateway, name, lifetime)
        # First, so that a request that finds it gone knows whose doing that is.
        named = CacheEntry.objects.filter(name=name)
        await database_sync_to_async(named.mark_for_deletion)(EntryReason.ADMIN)
        if not await delete_cache(gateway, name):
            return False
        if entry is not None:
            await database_sync_to_async(record_end)(entry, entry.reason, entry.said)
        return True


def choose(listed: Sequence[CacheListed], names: Sequence[str], *, all_ours: bool) -> list[str]:
    """The names to act on. Raises PipewebError for a cache of another deployment."""
    mine = [cache.name for cache in owned_caches(listed)]
    if all_ours:
        return mine
    if not names:
        raise PipewebError("No cache was named.", hint="Name some, or say --all-ours.")
    foreign = [name for name in names if name not in mine]
    if foreign:
        raise PipewebError(
            f"{foreign[0]} is not a cache of this deployment.",
            hint="Nothing was done. “caches” lists ours.",
        )
    return list(names)


def table(listed: Sequence[CacheListed], now: datetime) -> list[str]:
    """Our caches, latest expiry first, and the number of others."""
    mine = sorted(
        owned_caches(listed), key=lambda cache: (cache.expires is None, cache.expires), reverse=True
    )
    names = [cache.name for cache in mine]
    entries = {
        entry.name: entry
        for entry in CacheEntry.objects.filter(name__in=names).annotate(users=Count("sessions"))
    }
    lines = [HEADING, *(_line(cache, entries.get(cache.name), now) for cache in mine)] if mine else []
    others = len(listed) - len(mine)
    return [*lines, f"{len(mine)} of this deployment, {others} of others with the same key."]


def _line(cache: CacheListed, entry: Any, now: datetime) -> str:
    age = now - entry.made_at if entry and entry.made_at else None
    left = cache.expires - now if cache.expires else None
    state = entry.state if entry else "no row: “caches tidy” adopts or deletes it"
    return (
        f"{cache.name:<56}{cache.model:<26}{cache.tokens:>9,}{_span(age):>9}{_span(left):>9}"
        f"{_stored(entry, now):>12}{entry.hits if entry else 0:>6}{entry.users if entry else 0:>9}  {state}"
    )


def _stored(entry: CacheEntry | None, now: datetime) -> str:
    if entry is None or entry.made_at is None:
        return "–"
    day = entry.made_at.date()
    price = price_of_served(entry.model, model_of_cache(entry.model, entry.route, day), day)
    if price is None:
        return "–"
    return dollars(storage_cost(entry.tokens, entry.stored_hours(now), price.rates(entry.tokens)))


def _span(span: timedelta | None) -> str:
    return "–" if span is None else f"{max(span.total_seconds(), 0) / 60:.0f} min"
