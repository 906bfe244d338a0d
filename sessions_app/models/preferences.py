"""What a person prefers, on every device."""

from django.conf import settings
from django.db import models

from sessions_app.models.prepared import Reading, parameter


class ViewMode(models.TextChoices):
    """How much the pages show of what was sent and what it cost."""

    SIMPLE = "simple"
    INSPECT = "inspect"


class PreferencesQuerySet(models.QuerySet["Preferences"]):
    def view_mode_of(self, user_id: int) -> ViewMode:
        """The default for a person who has not chosen. One query."""
        kept = _kept_mode.first(user=user_id)
        return ViewMode(kept[0]) if kept and kept[0] in ViewMode.values else ViewMode.SIMPLE

    def set_view_mode(self, user_id: int, mode: ViewMode) -> None:
        self.update_or_create(user_id=user_id, defaults={"view_mode": mode})


class Preferences(models.Model):
    """The preferences of one person; none has a row before a choice."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="preferences"
    )
    view_mode = models.CharField(max_length=8, choices=ViewMode, default=ViewMode.SIMPLE)

    objects = PreferencesQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "preferences"

    def __str__(self) -> str:
        return f"preferences of {self.user}"


def _mode_query() -> models.QuerySet[Preferences, tuple[str]]:
    return Preferences.objects.filter(user=parameter(Preferences, "user")).values_list("view_mode")


_kept_mode: Reading[tuple[str]] = Reading(_mode_query)
