"""What the forecast of a chat is made of: its newest request, and the cache that the next one may name."""

from datetime import datetime

from django.db.models import BigIntegerField, DateTimeField, Q, QuerySet

from sessions_app.models import CacheEntry, Exchange, Session
from sessions_app.models.prepared import NONE, Parameter, Reading, parameter

FORECAST_COLUMNS = (
    "model",
    "served_model",
    "fingerprint",
    "cache_action",
    "cache_name",
    "verdict",
    "prompt_tokens",
    "cached_tokens",
    "output_tokens",
    "thought_tokens",
    "started_at",
    "ended_at",
    "previous",
    "previous__prompt_tokens",
)
"""Columns an estimate needs; manifests and stages can be large."""


def newest_exchange(session: Session) -> Exchange | None:
    """The newest counted exchange of the branch in view, or else of the session."""
    if not session.exchange_count:
        return None
    head = session.head
    ends = {"head": session.head_id or NONE, "above": (head.parent_id if head else None) or NONE}
    return _newest_of_branch.first(session=session.pk, **ends) or _newest.first(session=session.pk)


def _counted() -> "QuerySet[Exchange]":
    counted = Exchange.objects.filter(session=parameter(Exchange, "session"), prompt_tokens__gt=0)
    return counted.select_related("previous").only(*FORECAST_COLUMNS).order_by("-number")


def _of_branch() -> "QuerySet[Exchange]":
    head, above = (Parameter(name, BigIntegerField()) for name in ("head", "above"))
    return _counted().filter(Q(turns=head) | Q(turns=above))[:1]


_newest: Reading[Exchange] = Reading(lambda: _counted()[:1])
_newest_of_branch: Reading[Exchange] = Reading(_of_branch)


def usable_cache(session: Session, last: Exchange, now: datetime) -> CacheEntry | None:
    """The explicit cache that the next request of this session may name."""
    return _usable.first(session=session.pk, fingerprint=last.fingerprint, model=session.model, now=now)


def _usable_caches() -> "QuerySet[CacheEntry]":
    fingerprint, model = (parameter(CacheEntry, name) for name in ("fingerprint", "model"))
    ours = Q(sessions=Parameter("session", BigIntegerField())) | Q(fingerprint=fingerprint)
    later = Parameter("now", DateTimeField())
    live = CacheEntry.objects.live().filter(ours, model=model, expires_at__gt=later)
    return live.order_by("-expires_at")[:1]


_usable: Reading[CacheEntry] = Reading(_usable_caches)
