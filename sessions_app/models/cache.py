"""Explicit caches at the provider (`cachedContents/…`)."""

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Any, Self

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils import timezone
from django.utils.crypto import salted_hmac

from sessions_app.models.columns import storable
from sessions_app.models.model_facts import CacheRefusal
from sessions_app.models.run import Run
from sessions_app.prompt import caching
from sessions_app.prompt.caching import EXPIRY_MARGIN, CacheFacts, EntryReason

LEASE = timedelta(minutes=2)
"""How long one run may take to create a cache before another may try."""


def deployment() -> str:
    """12 hex digits that mark our caches at the provider: an HMAC of the secret key."""
    return salted_hmac("pipeweb.caches", "deployment").hexdigest()[:12]


class CacheEntryQuerySet(models.QuerySet["CacheEntry"]):
    def live(self) -> Self:
        return self.filter(state=CacheEntry.State.LIVE)

    def at_provider(self) -> Self:
        """Entries whose cache exists there, also when it is to be deleted."""
        return self.filter(state__in=CacheEntry.AT_PROVIDER)

    def on_endpoint(self, endpoint: str) -> Self:
        """Entries of one base URL and key, of any model (`gemini.routes`)."""
        return self.filter(Q(route=endpoint) | Q(route__startswith=f"{endpoint}/"))

    def pending_actions(self, endpoint: str) -> Self:
        """Entries to be deleted or extended there.

        A cache that an active run named is not deleted before that run has ended, unless an admin asked.
        """
        named = Run.objects.active().filter(exchanges__cache_name__gt="").values("exchanges__cache_name")
        deletable = Q(state=CacheEntry.State.TO_DELETE) & (Q(reason=EntryReason.ADMIN) | ~Q(name__in=named))
        extendable = Q(state=CacheEntry.State.LIVE, wanted_until__isnull=False)
        return self.on_endpoint(endpoint).filter(deletable | extendable)

    def claim(self, fingerprint: str, *, model: str, route: str, owner_id: int | None = None) -> bool:
        """Returns True when the caller, and no other run, is to create this cache.

        The claim ends with `remember`, `refuse` or `release`, or expires after LEASE.
        """
        now = timezone.now()
        lease: dict[str, Any] = {
            "state": CacheEntry.State.PENDING,
            "leased_until": now + LEASE,
            "reason": "",
            "said": "",
            "owner_id": owner_id,
        }
        fresh = {**lease, "model": model, "route": route}
        _, is_new = self.get_or_create(fingerprint=fingerprint, defaults=fresh)
        return is_new or bool(self.filter(_is_free(now), fingerprint=fingerprint).update(name="", **lease))

    def remember(self, fingerprint: str, *, name: str, tokens: int, expires: datetime) -> bool:
        """Ends a claim with a cache. Returns False when the claim was lost; no row then has this cache."""
        now = timezone.now()
        return bool(
            self.filter(fingerprint=fingerprint, state=CacheEntry.State.PENDING).update(
                name=name,
                tokens=tokens,
                expires_at=expires,
                state=CacheEntry.State.LIVE,
                leased_until=None,
                reason="",
                said="",
                failures=0,
                retry_at=None,
                wanted_until=None,
                made_at=now,
                used_at=now,
                hits=0,
                changed_at=now,
            )
        )

    def refuse(self, fingerprint: str, said: str, *, pause: timedelta | None = None) -> None:
        """Ends a claim with the provider's message `said`.

        Without `pause` each refusal in a row doubles the time before the next try.
        """
        for entry in self.filter(fingerprint=fingerprint):
            entry.failures += 1
            entry.state, entry.name, entry.tokens = CacheEntry.State.REFUSED, "", 0
            entry.expires_at = entry.leased_until = None
            entry.retry_at = timezone.now() + (pause or caching.pause_after(entry.failures))
            entry.reason, entry.said = EntryReason.PROVIDER, storable(said, 300)
            entry.save()

    def release(self, fingerprint: str, said: str) -> None:
        """Ends a claim without a cache; the next run may try at once."""
        self.filter(fingerprint=fingerprint, state=CacheEntry.State.PENDING).update(
            state=CacheEntry.State.GONE,
            leased_until=None,
            reason=EntryReason.PROVIDER,
            said=storable(said, 300),
            changed_at=timezone.now(),
        )

    def forget(self, endpoint: str, reason: EntryReason) -> None:
        """Marks every cache there as gone."""
        self.on_endpoint(endpoint).at_provider().update(
            state=CacheEntry.State.GONE, reason=reason, said="", changed_at=timezone.now()
        )

    def count_hit(self, fingerprint: str) -> None:
        self.filter(fingerprint=fingerprint).update(hits=F("hits") + 1, used_at=timezone.now())

    def set_expiry(self, name: str, expires: datetime) -> None:
        changes = {"expires_at": expires, "wanted_until": None, "changed_at": timezone.now()}
        self.at_provider().filter(name=name).update(**changes)

    def mark_for_deletion(self, reason: EntryReason) -> int:
        """Marks live caches; `runs.cache_janitor` deletes them at the provider."""
        return self.live().update(
            state=CacheEntry.State.TO_DELETE, reason=reason, said="", changed_at=timezone.now()
        )

    def release_for_session(self, session_pk: int, reason: EntryReason, *, but: str = "") -> int:
        """Unlinks the session's caches, except that with fingerprint `but`, and returns how many of them no
        other session uses: these are marked for deletion."""
        links = CacheEntry.sessions.through.objects
        old = links.filter(session_id=session_pk).exclude(cacheentry__fingerprint=but)
        keys = list(old.values_list("cacheentry_id", flat=True))
        if not keys:
            return 0
        links.filter(session_id=session_pk, cacheentry_id__in=keys).delete()
        return self.filter(pk__in=keys, sessions=None).mark_for_deletion(reason)


def _is_free(now: datetime) -> Q:
    """Entries that may be claimed: gone, expired, refused and due again, or with an expired claim."""
    state = CacheEntry.State
    return (
        Q(state=state.GONE)
        | Q(state=state.LIVE, expires_at__lte=now + EXPIRY_MARGIN)
        | Q(state=state.REFUSED, retry_at__lte=now)
        | Q(state=state.REFUSED, retry_at=None)
        | Q(state=state.PENDING, leased_until__lte=now)
    )


class CacheEntry(models.Model):
    """Shared by every session with the same fingerprint: model + static layer + tools + route."""

    class State(models.TextChoices):
        PENDING = "pending"
        LIVE = "live"
        TO_DELETE = "doomed", "Doomed"
        GONE = "gone"
        REFUSED = "refused"

    AT_PROVIDER = (State.LIVE, State.TO_DELETE)

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
    created_at = models.DateTimeField(auto_now_add=True)
    changed_at = models.DateTimeField(auto_now=True)

    objects = CacheEntryQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "cache entries"
        ordering = ["-changed_at"]

    def __str__(self) -> str:
        return self.name or f"{self.state} {self.fingerprint[:12]}"

    @property
    def display_name(self) -> str:
        return caching.display_name(deployment(), self.fingerprint)

    def stored_hours(self, now: datetime) -> float:
        """Hours that the provider stored it, which it charges for; 0 when it never did."""
        if self.made_at is None:
            return 0.0
        is_over = self.state not in (self.State.LIVE, self.State.TO_DELETE)
        end = min(self.changed_at if is_over else now, self.expires_at or now)
        return max((end - self.made_at).total_seconds(), 0.0) / 3_600

    def drop(self, reason: str, said: str = "") -> None:
        """Marks it as gone, with the provider's message `said`; not if it has another name by now."""
        now = timezone.now()
        changes = {"state": self.State.GONE, "reason": reason, "said": storable(said, 300), "changed_at": now}
        for name, value in changes.items():
            setattr(self, name, value)
        CacheEntry.objects.filter(pk=self.pk, name=self.name).update(**changes)

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

        `held` names the caches that the run has used; it may use them until it ends.
        """
        now = timezone.now()
        entry = cls.objects.filter(fingerprint=fingerprint).first()
        if entry is not None and entry._is_usable(held):
            facts = CacheFacts(minimum, entry.name, entry.expires_at)
            if facts.is_live(now):
                return facts
        known = CacheRefusal.objects.of(route, model)
        if known and minimum is not None:
            minimum = max(minimum, known.minimum or 0)
        return CacheFacts(
            minimum=minimum,
            name=entry.name if entry and entry.state == cls.State.LIVE else "",
            expires=entry.expires_at if entry else None,
            refusal=(known.refusal(now) if known else "") or (entry.refusal(now) if entry else ""),
            pending=entry is not None and entry.is_claimed(now),
            calibration=known.calibration if known else 1.0,
        )

    def _is_usable(self, held: Collection[str]) -> bool:
        if self.state == self.State.TO_DELETE:
            return self.name in held and self.reason != EntryReason.ADMIN
        return self.state == self.State.LIVE

    def refusal(self, now: datetime) -> str:
        """The provider's message, until it may be tried again; else empty."""
        holds = self.state == self.State.REFUSED and self.retry_at is not None and self.retry_at > now
        return self.said if holds else ""

    def is_claimed(self, now: datetime) -> bool:
        """Whether a run is creating it now."""
        lease = self.leased_until
        return self.state == self.State.PENDING and lease is not None and lease > now
