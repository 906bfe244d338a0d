"""What we know of a `cachedContents/…` at the provider."""

from datetime import datetime

from django.db import models
from django.db.models import F

from sessions_app.prompt.caching import CacheFacts


class CacheEntryQuerySet(models.QuerySet["CacheEntry"]):
    def remember(
        self, fingerprint: str, *, model: str, route: str, name: str, tokens: int, expires: datetime
    ) -> None:
        self.update_or_create(
            fingerprint=fingerprint,
            defaults={
                "model": model,
                "route": route,
                "name": name,
                "tokens": tokens,
                "expires_at": expires,
                "state": CacheEntry.State.LIVE,
                "reason": "",
            },
        )

    def refuse(self, fingerprint: str, *, model: str, route: str, reason: str) -> None:
        """Remembers why the provider would not keep it, so that it is not asked at every turn."""
        self.update_or_create(
            fingerprint=fingerprint,
            defaults={
                "model": model,
                "route": route,
                "name": "",
                "tokens": 0,
                "expires_at": None,
                "state": CacheEntry.State.REFUSED,
                "reason": reason[:300],
            },
        )

    def forget(self, route: str, reason: str) -> None:
        """Everything that was cached there is gone."""
        self.filter(route=route, state=CacheEntry.State.LIVE).update(
            state=CacheEntry.State.GONE, reason=reason
        )

    def count_hit(self, fingerprint: str) -> None:
        self.filter(fingerprint=fingerprint).update(hits=F("hits") + 1)


class CacheEntry(models.Model):
    """Shared by every session with the same fingerprint: model + static layer + tools + route."""

    class State(models.TextChoices):
        LIVE = "live"
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
    expires_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    changed_at = models.DateTimeField(auto_now=True)

    objects = CacheEntryQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "cache entries"
        ordering = ["-changed_at"]

    def __str__(self) -> str:
        return self.name or f"{self.state} {self.fingerprint[:12]}"

    def drop(self, reason: str) -> None:
        """The provider no longer knows the name."""
        self.state, self.reason = self.State.GONE, reason[:300]
        self.save(update_fields=["state", "reason", "changed_at"])

    @classmethod
    def facts(cls, fingerprint: str, minimum: int | None) -> CacheFacts:
        """What the pure plan needs to know about this fingerprint."""
        entry = cls.objects.filter(fingerprint=fingerprint).first()
        if entry is None:
            return CacheFacts(minimum=minimum)
        return CacheFacts(
            minimum=minimum,
            name=entry.name if entry.state == cls.State.LIVE else "",
            expires=entry.expires_at,
            refusal=entry.reason if entry.state == cls.State.REFUSED else "",
        )
