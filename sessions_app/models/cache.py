"""Explicit caches at the provider (`cachedContents/…`)."""

from collections.abc import Collection
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.crypto import salted_hmac

from sessions_app.models.cache_event import NOBODY, CausedBy
from sessions_app.models.cache_queries import CacheEntryQuerySet
from sessions_app.models.cache_states import AT_PROVIDER, EntryState
from sessions_app.models.model_facts import CacheRefusal
from sessions_app.models.prepared import Reading, parameter
from sessions_app.prompt import caching
from sessions_app.prompt.caching import CacheFacts, EntryReason


def deployment() -> str:
    """12 hex digits that mark our caches at the provider: an HMAC of the secret key."""
    return salted_hmac("pipeweb.caches", "deployment").hexdigest()[:12]


class CacheEntry(models.Model):
    """Shared by every session with the same fingerprint: model + static layer + tools + route."""

    State = EntryState
    AT_PROVIDER = AT_PROVIDER

    fingerprint = models.CharField(max_length=64, unique=True)
    route = models.CharField(max_length=64)
    model = models.CharField(max_length=80)
    name = models.CharField(max_length=120, blank=True)
    tokens = models.PositiveIntegerField(default=0)
    state = models.CharField(max_length=8, choices=State, default=State.LIVE)
    reason = models.CharField(
        max_length=20, blank=True, help_text="Why it is gone or was refused (prompt.caching.EntryReason)."
    )
    said = models.CharField(max_length=300, blank=True, help_text="What the provider said about that.")
    hits = models.PositiveIntegerField(default=0)
    failures = models.PositiveSmallIntegerField(default=0, help_text="Refusals in a row: the back-off grows.")
    retry_at = models.DateTimeField(null=True, blank=True, help_text="When a refused one may be tried again.")
    leased_until = models.DateTimeField(
        null=True, blank=True, help_text="While one run makes it, no other does."
    )
    sessions: "models.ManyToManyField[Any, Any]" = models.ManyToManyField(
        "Session", blank=True, related_name="cache_entries", help_text="Whose static layer it holds."
    )
    expires_at = models.DateTimeField(null=True, blank=True)
    made_at = models.DateTimeField(null=True, blank=True, help_text="Since when the provider has kept it.")
    used_at = models.DateTimeField(null=True, blank=True, help_text="The last request that named it.")
    wanted_until = models.DateTimeField(
        null=True, blank=True, help_text="An admin asked to keep it so long; done within seconds."
    )
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="+",
        help_text="Whose run had it made: where its cost is booked.",
    )
    is_programs = models.BooleanField(
        default=False, help_text="A captured program had it made: nothing of ours touches it at the provider."
    )
    captured_request = models.ForeignKey(
        "CapturedRequest",
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="+",
        help_text="The request that had it made, while it is kept; what it holds is read there.",
    )
    created_at = models.DateTimeField(auto_now_add=True)
    changed_at = models.DateTimeField(auto_now=True)

    objects = CacheEntryQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "cache entries"
        ordering = ["-changed_at"]

    def __str__(self) -> str:
        return self.name or self.fingerprint[:12]

    @property
    def display_name(self) -> str:
        return caching.display_name(deployment(), self.fingerprint)

    def stored_hours(self, now: datetime) -> float:
        """Hours that the provider stored the cache named here, which it charges for.

        0 without a name: none was made, or another try to make one has begun.
        """
        if self.made_at is None or not self.name:
            return 0.0
        is_over = self.state not in (self.State.LIVE, self.State.TO_DELETE)
        end = min(self.changed_at if is_over else now, self.expires_at or now)
        return max((end - self.made_at).total_seconds(), 0.0) / 3_600

    def drop(self, reason: str, said: str = "", *, by: CausedBy = NOBODY) -> bool:
        """Marks it as gone, with the provider's message `said`; not if it has another name by now.

        Returns whether it was not gone already.
        """
        return bool(CacheEntry.objects.filter(pk=self.pk, name=self.name).drop(reason, said, by=by))

    def add_session(self, session_pk: int) -> None:
        """Links a session that uses it; idempotent."""
        links = self.sessions.through.objects
        link = self.sessions.through(cacheentry_id=self.pk, session_id=session_pk)
        links.bulk_create([link], ignore_conflicts=True)

    @classmethod
    def facts(
        cls,
        fingerprint: str,
        *,
        route: str,
        model: str,
        minimum: int | None,
        held: Collection[str] = (),
    ) -> CacheFacts:
        """Input of the cache plan: one query for a live cache, else two.

        `held` names the caches that the run has used; it may use them until it ends. What we let go of is as
        good as live while `CacheEntryQuerySet.keep` may keep it.
        """
        now = timezone.now()
        entry = _by_fingerprint.first(fingerprint=fingerprint)
        is_usable = entry is not None and entry._is_usable(held)
        if entry is not None and (is_usable or entry._may_be_kept(now)):
            found = CacheFacts(
                minimum, entry.name, entry.expires_at, entry=entry.pk, is_dropped=not is_usable
            )
            if found.is_live(now):
                return found
        known = CacheRefusal.objects.of(route, model)
        if known and minimum is not None:
            minimum = max(minimum, known.minimum or 0)
        return CacheFacts(
            minimum=minimum,
            name=entry.name if entry and entry.state == cls.State.LIVE else "",
            expires=entry.expires_at if entry and entry._ends_by_the_clock() else None,
            refusal=(known.refusal(now) if known else "") or (entry.refusal(now) if entry else ""),
            pending=entry is not None and entry.is_claimed(now),
            calibration=known.calibration if known else 1.0,
            was_made=entry is not None and entry.made_at is not None,
            is_deleting=entry is not None and entry.state == cls.State.TO_DELETE,
        )

    def _may_be_kept(self, now: datetime) -> bool:
        is_begun = self.leased_until is not None and self.leased_until > now
        return self.state == self.State.TO_DELETE and self.reason != EntryReason.ADMIN and not is_begun

    def _is_usable(self, held: Collection[str]) -> bool:
        if self.state == self.State.TO_DELETE:
            return self.name in held and self.reason != EntryReason.ADMIN
        return self.state == self.State.LIVE

    def _ends_by_the_clock(self) -> bool:
        """Whether its expiry is or will be its end: nobody let go of it or lost it before."""
        return self.state == self.State.LIVE or self.reason == EntryReason.EXPIRED

    def refusal(self, now: datetime) -> str:
        """The provider's message, until it may be tried again; else empty."""
        holds = self.state == self.State.REFUSED and self.retry_at is not None and self.retry_at > now
        return self.said if holds else ""

    def is_claimed(self, now: datetime) -> bool:
        """Whether a run is creating it now."""
        lease = self.leased_until
        return self.state == self.State.PENDING and lease is not None and lease > now


_by_fingerprint: Reading[CacheEntry] = Reading(
    lambda: CacheEntry.objects.filter(fingerprint=parameter(CacheEntry, "fingerprint"))
)
