"""States of cache entries, and the conditions under which they may change."""

from datetime import datetime, timedelta

from django.db import models
from django.db.models import Q

from sessions_app.prompt.caching import EXPIRY_MARGIN, EntryReason

LEASE = timedelta(minutes=2)
"""How long one run may take to create a cache, or one process to delete it, before another may try."""

EXPIRY_GRACE = timedelta(minutes=1)
"""How long after its end the answer to an extension of a cache may still come."""


class EntryState(models.TextChoices):
    """The state of a cache entry.

    A cache that is to be deleted still exists at the provider: a run that named it goes on with it, and
    another request may keep it.
    """

    PENDING = "pending"
    LIVE = "live"
    TO_DELETE = "doomed", "Doomed"
    GONE = "gone"
    REFUSED = "refused"


AT_PROVIDER = (EntryState.LIVE, EntryState.TO_DELETE)


def is_unleased(now: datetime) -> Q:
    return Q(leased_until=None) | Q(leased_until__lte=now)


def may_be_kept(now: datetime) -> Q:
    """Entries to be deleted that may be kept: deletion has not begun, and no admin asked for it."""
    return is_unleased(now) & ~Q(reason=EntryReason.ADMIN)


def is_free(now: datetime) -> Q:
    """Entries that may be claimed: gone, expired, refused and due again, or with an expired claim."""
    return (
        Q(state=EntryState.GONE)
        | Q(state=EntryState.LIVE, expires_at__lte=now + EXPIRY_MARGIN)
        | Q(state=EntryState.REFUSED, retry_at__lte=now)
        | Q(state=EntryState.REFUSED, retry_at=None)
        | Q(state=EntryState.PENDING, leased_until__lte=now)
    )
