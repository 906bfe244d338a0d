"""What is remembered about panels: when each last changed, which page is shown, what a program printed."""

from typing import TYPE_CHECKING

from django.core.exceptions import ValidationError
from django.db import models
from django.utils import timezone

if TYPE_CHECKING:
    from sessions_app.models.session import Session


class PanelStateQuerySet(models.QuerySet["PanelState"]):
    def turn_to(self, session: "Session", key: str, page: int) -> None:
        """Shows another page of a long panel; one beyond the last is taken for the last."""
        kept = {"page": max(1, page)}
        self.update_or_create(session=session, key=key, defaults=kept, create_defaults=kept | {"sha256": ""})


class PanelState(models.Model):
    """One panel of one session: its timestamp moves only when its content changed (seed 4)."""

    session = models.ForeignKey("Session", on_delete=models.CASCADE, related_name="panel_states")
    key = models.CharField(max_length=80)
    sha256 = models.CharField(max_length=64, help_text="Of the content as it is sent.")
    tokens = models.PositiveIntegerField(default=0, help_text="Estimated.")
    page = models.PositiveIntegerField(default=1)
    changed_at = models.DateTimeField(default=timezone.now)

    objects = PanelStateQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["session", "key"], name="panel_state_once")]

    def __str__(self) -> str:
        return self.key


class Reading(models.Model):
    """What a program outside printed last (git, gh, an allowed command), kept until it is due again."""

    session = models.ForeignKey("Session", on_delete=models.CASCADE, related_name="readings")
    key = models.CharField(max_length=80)
    text = models.TextField(blank=True)
    failed = models.BooleanField(default=False)
    read_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["session", "key"], name="reading_once")]

    def __str__(self) -> str:
        return self.key


class AllowedCommand(models.Model):
    """A command whose output the console panel may show; only admins add one."""

    name = models.SlugField(max_length=40, unique=True)
    argv = models.JSONField(help_text='Program and arguments, without a shell: ["df", "-h", "."].')
    every = models.PositiveIntegerField(default=120, help_text="Seconds between two looks.")
    timeout = models.PositiveIntegerField(default=10, help_text="Seconds it may take.")
    enabled = models.BooleanField(default=True)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name

    @property
    def is_runnable(self) -> bool:
        """Whether argv is a program and its arguments: a list of texts without NUL, not empty."""
        words = self.argv if isinstance(self.argv, list) else []
        return bool(words and words[0]) and all(isinstance(word, str) and "\0" not in word for word in words)

    def clean(self) -> None:
        if not self.is_runnable:
            raise ValidationError({"argv": 'Write a list of words, such as ["df", "-h", "."].'})
