"""What a provider taught us about caching on one model."""

from datetime import datetime

from django.db import models
from django.utils import timezone

from sessions_app.prompt.caching import pause_after


class CacheLessonQuerySet(models.QuerySet["CacheLesson"]):
    def of(self, route: str, model: str) -> "CacheLesson | None":
        return self.filter(route=route, model=model).first()

    def demand(self, route: str, model: str, minimum: int, reason: str) -> None:
        """The provider named the smallest cache that it takes."""
        self.update_or_create(route=route, model=model, defaults={"minimum": minimum, "reason": reason[:300]})

    def refuse(self, route: str, model: str, reason: str) -> None:
        """No cache here for now: not on this model, or not with this key. The pause doubles each time."""
        lesson, _ = self.get_or_create(route=route, model=model)
        lesson.failures += 1
        lesson.refused_until = timezone.now() + pause_after(lesson.failures)
        lesson.reason = reason[:300]
        lesson.save()

    def forgive(self, route: str, model: str) -> None:
        """It made one after all; the minimum it once named still holds."""
        self.filter(route=route, model=model, failures__gt=0).update(failures=0, refused_until=None)


class CacheLesson(models.Model):
    """Kept per model, so that a provider that says no is not asked at every turn."""

    route = models.CharField(max_length=64)
    model = models.CharField(max_length=80)
    minimum = models.PositiveIntegerField(null=True, blank=True, help_text="Tokens that it demanded.")
    refused_until = models.DateTimeField(null=True, blank=True)
    failures = models.PositiveSmallIntegerField(default=0)
    reason = models.CharField(max_length=300, blank=True)
    learned_at = models.DateTimeField(auto_now=True)

    objects = CacheLessonQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["route", "model"], name="cache_lesson_once")]

    def __str__(self) -> str:
        return f"{self.model}: {self.reason}"

    def refusal(self, now: datetime) -> str:
        """Why there is no cache, as long as that holds."""
        return self.reason if self.refused_until is not None and self.refused_until > now else ""
