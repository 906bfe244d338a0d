"""Stores why a provider refused to create a cache, so that it is not asked again for the same."""

from sessions_app.errors import (
    BadKey,
    CacheTooSmall,
    GatewayError,
    ProviderDown,
    QuotaExceeded,
    UnknownModel,
    Unreachable,
)
from sessions_app.models import CacheEntry, CacheRefusal
from sessions_app.models.cache_event import NOBODY, CausedBy
from sessions_app.prompt.caching import SIZE_PAUSE, minimum_in, total_in


def record_refusal(
    error: GatewayError, fingerprint: str, route: str, model: str, estimated: int, *, by: CausedBy = NOBODY
) -> None:
    """Stores a refusal of the text, or of all caches for this route and model.

    A provider that is down has refused nothing: the next answer tries again. `estimated` is the text's size
    in tokens.
    """
    entries = CacheEntry.objects
    match error:
        case CacheTooSmall():
            if minimum := minimum_in(error.message):
                counted = total_in(error.message) or 0
                CacheRefusal.objects.set_minimum(
                    route, model, minimum, error.message, estimated=estimated, counted=counted
                )
            entries.refuse(fingerprint, error.message, pause=SIZE_PAUSE, by=by)
        case QuotaExceeded() | UnknownModel() | BadKey():
            CacheRefusal.objects.refuse(route, model, error.message, error.retry_after)
            entries.release(fingerprint, error.message, is_refused=True, by=by)
        case ProviderDown() | Unreachable():
            entries.release(fingerprint, error.message, by=by)
        case _:
            entries.refuse(fingerprint, error.message, by=by)
