"""What was planned for the cache, what the provider did, and what we know of the entry."""

from dataclasses import dataclass

from sessions_app.inspector.tabs.base import Tab
from sessions_app.models import CacheEntry, Exchange

ACTIONS = {
    "none": "No cache was used",
    "hit": "A cache was named instead of sending the static layer",
    "miss": "The static layer was sent inline",
    "create": "The static layer was sent inline, to be cached after the answer",
}


@dataclass(frozen=True, slots=True)
class ShownCache:
    """`entry` is the row as it is now, which may have changed since the exchange."""

    plan: str
    entry: CacheEntry | None
    is_named: bool


class CacheTab(Tab):
    id = "cache"
    title = "Cache"

    def context(self, exchange: Exchange, *, raw: bool) -> ShownCache:
        return ShownCache(
            plan=ACTIONS.get(exchange.cache_action, "No plan was made"),
            entry=entry_of(exchange),
            is_named=bool(exchange.cache_name),
        )


def entry_of(exchange: Exchange) -> CacheEntry | None:
    if not exchange.fingerprint:
        return None
    return CacheEntry.objects.filter(fingerprint=exchange.fingerprint).first()
