"""What we know of a `cachedContents/…` at the provider."""

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Self

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils import timezone
from django.utils.crypto import salted_hmac

from sessions_app.models.lesson import CacheLesson
from sessions_app.prompt import caching
from sessions_app.prompt.caching import EXPIRY_MARGIN, CacheFacts

if TYPE_CHECKING:
    from sessions_app.models.session import Session

LEASE = timedelta(minutes=2)
"""How long one run may take to make a cache before another may try."""


def deployment() -> str:
    """12 hex digits that mark our caches at the provider.

    Every process that shares the secret key shares it, a copy of the database elsewhere does not, and
    there is no way back to the key.
    """
    return salted_hmac("pipeweb.caches", "deployment").hexdigest()[:12]


class CacheEntryQuerySet(models.QuerySet["CacheEntry"]):
    def live(self) -> Self:
        return self.filter(state=CacheEntry.State.LIVE)

    def of_door(self, door: str) -> Self:
        """Everything behind one base URL and key, whatever the model (`gemini.routes`)."""
        return self.filter(Q(route=door) | Q(route__startswith=f"{door}/"))

    def errands(self, door: str) -> Self:
        """What is to be deleted or prolonged there."""
        asked = Q(state=CacheEntry.State.DOOMED) | Q(state=CacheEntry.State.LIVE, wanted_until__isnull=False)
        return self.of_door(door).filter(asked)

    def claim(self, fingerprint: str, *, model: str, route: str, owner_id: int | None = None) -> bool:
        """Whether the caller, and nobody else, is now to make this cache.

        One conditional statement decides, so that two runs never pay for the same cache. The claim
        ends with `remember`, `refuse` or `release`, and by itself after LEASE.
        """
        now = timezone.now()
        lease: dict[str, Any] = {
            "state": CacheEntry.State.PENDING,
            "leased_until": now + LEASE,
            "reason": "",
            "owner_id": owner_id,
        }
        fresh = {**lease, "model": model, "route": route}
        _, is_new = self.get_or_create(fingerprint=fingerprint, defaults=fresh)
        return is_new or bool(self.filter(_is_free(now), fingerprint=fingerprint).update(name="", **lease))

    def remember(self, fingerprint: str, *, name: str, tokens: int, expires: datetime) -> bool:
        """Ends a claim with a cache. False when the claim was lost: the cache is then nobody's."""
        now = timezone.now()
        return bool(
            self.filter(fingerprint=fingerprint, state=CacheEntry.State.PENDING).update(
                name=name,
                tokens=tokens,
                expires_at=expires,
                state=CacheEntry.State.LIVE,
                leased_until=None,
                reason="",
                failures=0,
                retry_at=None,
                wanted_until=None,
                made_at=now,
                used_at=now,
                hits=0,
                changed_at=now,
            )
        )

    def refuse(self, fingerprint: str, reason: str) -> None:
        """Ends a claim with the provider's no, which holds for a while that grows."""
        for entry in self.filter(fingerprint=fingerprint):
            entry.failures += 1
            entry.state, entry.name, entry.tokens = CacheEntry.State.REFUSED, "", 0
            entry.expires_at = entry.leased_until = None
            entry.retry_at = timezone.now() + caching.pause_after(entry.failures)
            entry.reason = reason[:300]
            entry.save()

    def release(self, fingerprint: str, reason: str) -> None:
        """Ends a claim without a cache: the next run may try at once."""
        self.filter(fingerprint=fingerprint, state=CacheEntry.State.PENDING).update(
            state=CacheEntry.State.GONE, leased_until=None, reason=reason[:300], changed_at=timezone.now()
        )

    def forget(self, door: str, reason: str) -> None:
        """Everything that was cached there is gone."""
        kept = (CacheEntry.State.LIVE, CacheEntry.State.DOOMED)
        self.of_door(door).filter(state__in=kept).update(
            state=CacheEntry.State.GONE, reason=reason[:300], changed_at=timezone.now()
        )

    def count_hit(self, fingerprint: str) -> None:
        self.filter(fingerprint=fingerprint).update(hits=F("hits") + 1, used_at=timezone.now())

    def extended(self, name: str, expires: datetime) -> None:
        changes = {"expires_at": expires, "wanted_until": None, "changed_at": timezone.now()}
        self.live().filter(name=name).update(**changes)

    def doom(self, reason: str) -> int:
        """Marks living caches for deletion at the provider; the next round of the caretaker does it."""
        return self.live().update(
            state=CacheEntry.State.DOOMED, reason=reason[:300], changed_at=timezone.now()
        )

    def let_go(self, session: "Session", reason: str, *, but: str = "") -> int:
        """The session no longer needs its caches, except the one with fingerprint `but`.

        What no other session uses is doomed. Two statements, whatever the number.
        """
        links = CacheEntry.sessions.through.objects
        old = links.filter(session_id=session.pk).exclude(cacheentry__fingerprint=but)
        keys = list(old.values_list("cacheentry_id", flat=True))
        if not keys:
            return 0
        links.filter(session_id=session.pk, cacheentry_id__in=keys).delete()
        return self.filter(pk__in=keys, sessions=None).doom(reason)


def _is_free(now: datetime) -> Q:
    """Entries that nobody holds: gone, run out, refused long enough ago, or left by a dead claim."""
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
        DOOMED = "doomed"
        GONE = "gone"
        REFUSED = "refused"

    fingerprint = models.CharField(max_length=64, unique=True)
    route = models.CharField(max_length=64)
    model = models.CharField(max_length=80)
    name = models.CharField(max_length=120, blank=True)
    tokens = models.PositiveIntegerField(default=0)
    state = models.CharField(max_length=8, choices=State, default=State.LIVE)
    reason = models.CharField(max_length=300, blank=True, help_text="Why it is gone or was refused.")
    hits = models.PositiveIntegerField(default=0)
    failures = models.PositiveSmallIntegerField(default=0, help_text="Refusals in a row: the back-off grows.")
    retry_at = models.DateTimeField(null=True, blank=True, help_text="When a refused one may be tried again.")
    leased_until = models.DateTimeField(
        null=True, blank=True, help_text="While one run makes it, no other does."
    )
    sessions: "models.ManyToManyField[Session, Any]" = models.ManyToManyField(
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

    def kept_hours(self, now: datetime) -> float:
        """How long the provider has kept it, and charged for that; 0 when it never did."""
        if self.made_at is None:
            return 0.0
        is_over = self.state not in (self.State.LIVE, self.State.DOOMED)
        end = min(self.changed_at if is_over else now, self.expires_at or now)
        return max((end - self.made_at).total_seconds(), 0.0) / 3_600

    def drop(self, reason: str) -> None:
        """The provider no longer knows the name. A cache that was made again since, under another, stays."""
        self.state, self.reason, self.changed_at = self.State.GONE, reason[:300], timezone.now()
        CacheEntry.objects.filter(pk=self.pk, name=self.name).update(
            state=self.state, reason=self.reason, changed_at=self.changed_at
        )

    def serve(self, session: "Session") -> None:
        """The session uses it from now on; saying so again does no harm."""
        links = self.sessions.through.objects
        links.bulk_create(
            [self.sessions.through(cacheentry_id=self.pk, session_id=session.pk)], ignore_conflicts=True
        )

    @classmethod
    def facts(cls, fingerprint: str, *, route: str, model: str, minimum: int | None) -> CacheFacts:
        """What the pure plan needs to know: one query for a live cache, one more where there is none."""
        now = timezone.now()
        entry = cls.objects.filter(fingerprint=fingerprint).first()
        if entry is not None and entry.state == cls.State.LIVE:
            facts = CacheFacts(minimum, entry.name, entry.expires_at)
            if facts.is_live(now):
                return facts
        lesson = CacheLesson.objects.of(route, model)
        learned = max(minimum, lesson.minimum or 0) if lesson and minimum is not None else minimum
        return CacheFacts(
            minimum=learned,
            name=entry.name if entry and entry.state == cls.State.LIVE else "",
            expires=entry.expires_at if entry else None,
            refusal=(lesson.refusal(now) if lesson else "") or (entry.refusal(now) if entry else ""),
            pending=entry is not None and entry.is_claimed(now),
        )

    def refusal(self, now: datetime) -> str:
        """Why it was refused, as long as that holds."""
        holds = self.state == self.State.REFUSED and self.retry_at is not None and self.retry_at > now
        return self.reason if holds else ""

    def is_claimed(self, now: datetime) -> bool:
        """Whether somebody is making it now."""
        lease = self.leased_until
        return self.state == self.State.PENDING and lease is not None and lease > now
