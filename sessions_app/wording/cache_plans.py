"""What was planned for the explicit cache of an exchange, and why a cache is no longer kept."""

from sessions_app.prompt.caching import CacheAction, CachePlan, EntryReason, PlanReason
from sessions_app.wording.sentences import earlier_version

EXPIRED, UNFINISHED = "expired", "unfinished"
"""The state of an entry whose time is over, or whose claim is, and whose row does not say so yet."""

STATES = {
    "pending": "being made",
    "live": "live",
    "doomed": "to be deleted",
    "gone": "gone",
    "refused": "refused",
    EXPIRED: "expired",
    UNFINISHED: "its making was not finished",
}
"""By the state of a cache entry (`models.cache_states.EntryState`), or what the clock made of it."""

ACTIONS = {
    CacheAction.NONE: "No cache was used.",
    CacheAction.HIT: "A cache was named instead of sending the static layer.",
    CacheAction.MISS: "The static layer was sent inline.",
    CacheAction.CREATE: "The static layer was sent inline, to be cached after the answer.",
    CacheAction.EXTEND: "A cache was named instead of sending the static layer, "
    "to be prolonged after the answer.",
    CacheAction.DROP: "The static layer was sent inline; the session left its cache.",
    CacheAction.UNKNOWN: "No plan was made.",
}

REASONS = {
    PlanReason.NOT_OFFERED: "There are no explicit caches for this model here.",
    PlanReason.WAIVED: "This request relies on the provider’s own cache.",
    PlanReason.REFUSED: "The provider refused a cache: {refusal}",
    PlanReason.TOO_SMALL: "The static layer has about {tokens} tokens; a cache needs {minimum}.",
    PlanReason.LIVE: "The static layer and the tools are cached.",
    PlanReason.EXPIRING: "The static layer and the tools are cached for {minutes} more min; "
    "to be prolonged after this.",
    PlanReason.PENDING: "The cache for this static layer is being made.",
    PlanReason.DELETING: "The cache of this static layer is being deleted; one is made when it is gone.",
    PlanReason.EXPIRED: "The cache has expired; one is made again after this answer.",
    PlanReason.AGAIN: "The cache of this static layer is gone; one is made again after this answer.",
    PlanReason.NEW: "This static layer is new; a cache is made after this answer.",
    PlanReason.CLIENT: "The program decides about caches; Pipeweb only relayed its request.",
    PlanReason.UNKNOWN: "",
}

ENTRY_REASONS = {
    EntryReason.PROVIDER: "{said}",
    EntryReason.ROLLED_ON: "History rolled on.",
    EntryReason.REPLACED: "Its session uses another cache now.",
    EntryReason.WAIVED: "Its session relies on the provider’s own cache now.",
    EntryReason.SESSION_DELETED: "Its session was deleted.",
    EntryReason.SESSION_ERASED: "Its session was erased.",
    EntryReason.SESSION_GONE: "Its session is gone.",
    EntryReason.ADMIN: "An admin asked for it.",
    EntryReason.CLIENT: "The program that had made it deleted it.",
    EntryReason.NOT_LISTED: "The provider no longer lists it.",
    EntryReason.EXPIRED: "Its time was over.",
    EntryReason.EMULATOR_RESTARTED: "The emulator keeps caches only while it runs.",
    EntryReason.UNKNOWN: "{said}",
}


KEPT = {"again": "{reason} Pipeweb had let go of that cache, and keeps it."}


def state(code: str) -> str:
    """What is known of a cache entry; the code where another version wrote it."""
    return STATES.get(code, code)


def action(code: str) -> str:
    """What was done, by the stored action."""
    return ACTIONS[CacheAction(code)]


def reason(plan: CachePlan | None, earlier: str = "") -> str:
    """Why; `earlier` is the sentence that stands in for figures in a row of an earlier version."""
    if plan is None:
        return earlier_version(earlier)
    told = REASONS[plan.reason].format(
        tokens=plan.tokens,
        minimum=plan.minimum,
        minutes=max(1, round(plan.seconds_left / 60)),
        refusal=plan.refusal,
    )
    return KEPT["again"].format(reason=told) if plan.is_kept else told


def entry_reason(code: str, said: str) -> str:
    """Why a cache entry is gone or was refused; `said` is the provider's message. Empty while it lives."""
    return ENTRY_REASONS[EntryReason(code)].format(said=said) if code or said else ""
