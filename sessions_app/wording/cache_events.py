"""What happened to a cache entry, as the lines of its life."""

from sessions_app.prompt.cache_life import CacheEventKind
from sessions_app.prompt.caching import EntryReason
from sessions_app.wording import cache_plans

EVENTS = {
    CacheEventKind.PLANNED: "planned",
    CacheEventKind.NOT_MADE: "not made",
    CacheEventKind.REFUSED: "refused by the provider",
    CacheEventKind.MADE: "made",
    CacheEventKind.NAMED: "named",
    CacheEventKind.EXTENDED: "extended",
    CacheEventKind.ROLLED_OVER: "rolled over: the session moved to another cache",
    CacheEventKind.LEFT: "left by a session, kept for others",
    CacheEventKind.DROPPED: "dropped by Pipeweb",
    CacheEventKind.KEPT: "kept: a request named it again before it was deleted",
    CacheEventKind.DELETED: "gone at the provider, as we asked",
    CacheEventKind.EXPIRED: "expired",
    CacheEventKind.GONE: "gone at the provider",
    CacheEventKind.UNKNOWN: "something else",
}

OF_PROGRAMS = EVENTS | {
    CacheEventKind.DROPPED: "deleted by the program",
    CacheEventKind.DELETED: "gone at the provider, as the program asked",
}
"""The events of a cache that a captured program made."""

REPEATED = {"times": "{what}, {count:,} times"}


def event(kind: str, reason: str = "", count: int = 1) -> str:
    """What happened, `count` times in a row; `reason` is a stored EntryReason, or empty."""
    events = OF_PROGRAMS if reason == EntryReason.CLIENT else EVENTS
    what = events[CacheEventKind(kind)]
    return what if count == 1 else REPEATED["times"].format(what=what, count=count)


def reason(code: str, said: str) -> str:
    """Why; empty where there is nothing to say."""
    return cache_plans.entry_reason(code, said)
