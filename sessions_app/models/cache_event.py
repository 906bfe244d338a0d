"""What happened to cache entries: one row for each event, written with the change itself."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from sessions_app.models.exchange import Exchange
from sessions_app.models.prepared import Parameter, Reading
from sessions_app.prompt.cache_life import CacheEventKind, CacheMoment, moments

if TYPE_CHECKING:
    from sessions_app.models.cache import CacheEntry

MOMENT_COLUMNS = ("kind", "at", "name", "expires", "reason")
"""The columns of a `CacheMoment`."""


@dataclass(frozen=True, slots=True)
class CausedBy:
    """The exchange whose plan caused an event, and its session; None where nobody's did.

    `at` is when it happened, None for now: what other programs do is written later.
    """

    exchange: int | None = None
    session: int | None = None
    at: datetime | None = None

    @property
    def moment(self) -> datetime:
        return self.at or timezone.now()


NOBODY = CausedBy()


class CacheEventQuerySet(models.QuerySet["CacheEvent"]):
    def lives(self, until: datetime, one: str, other: str = "") -> dict[str, list[CacheMoment]]:
        """The events of the entries with one or two fingerprints, in order: one query."""
        found: dict[str, list[Any]] = defaultdict(list)
        for fingerprint, *row in _lives.all(one=one, other=other or one, until=until):
            found[fingerprint].append(row)
        return {fingerprint: moments(listed) for fingerprint, listed in found.items()}

    def add(self, events: Sequence["CacheEvent"], by: CausedBy = NOBODY) -> None:
        """Writes events that `by` caused; an exchange that was erased meanwhile is not named."""
        if by.exchange is not None:
            # Locked, so that no erasure comes between; SQLite's transactions are alone.
            rows = Exchange.objects.filter(pk=by.exchange).select_for_update(no_key=True)
            by = by if rows.exists() else NOBODY
        for event in events:
            event.exchange_id, event.session_id = by.exchange, by.session
        self.bulk_create(events)

    def rolled_over(self, session_pk: int) -> set[int]:
        """The keys of the entries from whose present cache the session's history rolled over."""
        rolled = self.filter(session_id=session_pk, kind=CacheEventKind.ROLLED_OVER)
        return set(rolled.filter(name=F("entry__name")).values_list("entry_id", flat=True))

    def forget_session(self, session_pk: int) -> None:
        """Keeps the events of an erased session, which is no longer named."""
        self.filter(session_id=session_pk).update(session=None, exchange=None)


class CacheEvent(models.Model):
    """One event in the life of a cache entry; never changed but by the erasure of its session."""

    entry = models.ForeignKey("CacheEntry", on_delete=models.CASCADE, related_name="events")
    kind = models.CharField(max_length=12, help_text="prompt.cache_life.CacheEventKind.")
    at = models.DateTimeField(default=timezone.now)
    name = models.CharField(max_length=120, blank=True, help_text="Of the cache at the provider.")
    expires = models.DateTimeField(null=True, blank=True, help_text="Its end, as known from then on.")
    reason = models.CharField(max_length=20, blank=True, help_text="prompt.caching.EntryReason.")
    said = models.CharField(max_length=300, blank=True, help_text="What the provider said about that.")
    exchange = models.ForeignKey(
        "Exchange",
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="+",
        help_text="The one that named it, or whose plan caused this.",
    )
    session = models.ForeignKey("Session", null=True, blank=True, on_delete=models.SET_NULL, related_name="+")

    objects = CacheEventQuerySet.as_manager()

    class Meta:
        ordering = ["at", "pk"]

    def __str__(self) -> str:
        return f"{self.kind} {self.at:%H:%M:%S}"

    @classmethod
    def of(cls, entry: "CacheEntry", kind: CacheEventKind, **fields: Any) -> "CacheEvent":
        """An event of this entry as it is now; not saved."""
        known = {"name": entry.name, "expires": entry.expires_at, "reason": entry.reason}
        return cls(entry_id=entry.pk, kind=kind, **(known | fields))


def _lives_query() -> "models.QuerySet[CacheEvent, tuple[Any, ...]]":
    one, other = (Parameter(name, models.CharField()) for name in ("one", "other"))
    until = Parameter("until", models.DateTimeField())
    named = CacheEvent.objects.filter(Q(entry__fingerprint=one) | Q(entry__fingerprint=other), at__lte=until)
    return named.order_by("at", "pk").values_list("entry__fingerprint", *MOMENT_COLUMNS)


_lives: Reading[tuple[Any, ...]] = Reading(_lives_query)
