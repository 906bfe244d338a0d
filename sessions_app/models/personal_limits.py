"""What people may use of the installation, and what they use of it."""

from typing import Any

from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import Q
from django.utils import timezone

from sessions_app.models.prepared import Reading, parameter


def lock_person(user_id: int) -> None:
    """Inside a transaction: what other processes do for this person with the row locked waits for its end."""
    get_user_model().objects.select_for_update(no_key=True).filter(pk=user_id).values("pk").first()


class PersonalLimitsQuerySet(models.QuerySet["PersonalLimits"]):
    def that_apply_to(self, user_id: int) -> "list[PersonalLimits]":
        """The person's own row, those of their groups and that of everybody: one query."""
        return _applying.all(user=user_id)


def _that_apply() -> "models.QuerySet[PersonalLimits]":
    user = parameter(PersonalLimits, "user")
    return PersonalLimits.objects.filter(Q(user=user) | Q(group__user=user) | Q(everybody=True))


_applying: Reading["PersonalLimits"] = Reading(_that_apply)


class PersonalLimits(models.Model):
    """The limits of one person, of the members of a group, or of everybody.

    An empty field passes to the next: person, groups (the largest), everybody, the default of the program
    (`context.personal_limits.EffectiveLimits`). 0 allows none.
    """

    everybody = models.BooleanField(null=True, default=None, unique=True, editable=False)
    group = models.OneToOneField(
        "auth.Group", null=True, blank=True, on_delete=models.CASCADE, related_name="limits"
    )
    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.CASCADE, related_name="limits"
    )
    runs_at_once = models.PositiveIntegerField(null=True, blank=True)
    sends_per_minute = models.PositiveIntegerField(null=True, blank=True)
    sockets = models.PositiveIntegerField(
        null=True, blank=True, help_text="Open chat pages, for each process of the server."
    )
    upload_mb_per_day = models.PositiveIntegerField("upload MB per day", null=True, blank=True)
    storage_mb = models.PositiveIntegerField(
        "storage MB", null=True, blank=True, help_text="Workspace, attachments and stored requests."
    )
    sessions = models.PositiveIntegerField(
        null=True, blank=True, help_text="Temporary and archived ones count, deleted ones do not."
    )
    shared_links = models.PositiveIntegerField(
        null=True, blank=True, help_text="0 switches sharing off, and closes the links that there are."
    )

    objects = PersonalLimitsQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "personal limits"
        constraints = [
            models.CheckConstraint(
                condition=Q(everybody=True, group=None, user=None)
                | Q(everybody=None, group__isnull=False, user=None)
                | Q(everybody=None, group=None, user__isnull=False),
                name="limits_of_one",
            )
        ]

    def __str__(self) -> str:
        return str(self.user or self.group or "everybody")

    def save(self, *args: Any, **kwargs: Any) -> None:
        self._set_everybody()
        super().save(*args, **kwargs)

    def clean(self) -> None:
        self._set_everybody()
        if self.user_id is not None and self.group_id is not None:
            raise ValidationError("Choose a group or a user, not both.")
        if self.everybody and PersonalLimits.objects.filter(everybody=True).exclude(pk=self.pk).exists():
            raise ValidationError("The limits of everybody are set already: change that row.")

    def _set_everybody(self) -> None:
        self.everybody = True if self.user_id is None and self.group_id is None else None


class PersonalUsageQuerySet(models.QuerySet["PersonalUsage"]):
    def hold(self, user_id: int) -> "PersonalUsage":
        """The person's row, locked until the end of the transaction.

        Whoever changes what all sessions of a person share, files and memories, holds it before reading. The
        row of the person is locked before a run, which tools hold already.
        """
        self.get_or_create(user_id=user_id)
        return self.select_for_update(no_key=True).get(user_id=user_id)


class PersonalUsage(models.Model):
    """Bytes that a person uploaded on `day` (UTC) and has stored.

    `stored` is what was counted at `counted_at` and what was reserved since.
    """

    user = models.OneToOneField(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="usage")
    day = models.DateField(null=True, blank=True)
    uploaded = models.PositiveBigIntegerField(default=0)
    stored = models.PositiveBigIntegerField(default=0)
    counted_at = models.DateTimeField(null=True, blank=True)

    objects = PersonalUsageQuerySet.as_manager()

    def __str__(self) -> str:
        return str(self.user)

    @property
    def uploaded_today(self) -> int:
        return self.uploaded if self.day == timezone.now().date() else 0
