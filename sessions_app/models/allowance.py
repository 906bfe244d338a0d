"""What people and the installation may spend, and what requests under way have reserved of it."""

from datetime import timedelta
from decimal import Decimal
from typing import Any, Self

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import MinValueValidator
from django.db import models
from django.db.models import Q
from django.utils import timezone

from sessions_app.models.prepared import Reading, parameter

HELD_FOR = timedelta(minutes=20)
"""After which a reservation counts no more, as its process died. A provider may be silent for ten minutes."""


class AllowanceQuerySet(models.QuerySet["Allowance"]):
    def that_apply_to(self, user_id: int) -> "list[Allowance]":
        """Those of the person, of their groups, of everybody and of the installation: one query."""
        return _applying.all(owner=user_id)

    def lock_ceiling(self) -> None:
        """Inside a transaction: whoever else reserves money of the installation waits for its end."""
        self.filter(is_ceiling=True).select_for_update().values("pk").first()


def usd_field() -> "models.DecimalField[Any, Any]":
    return models.DecimalField(
        max_digits=16,
        decimal_places=8,
        null=True,
        blank=True,
        validators=[MinValueValidator(Decimal(0))],
        help_text="Empty: no amount here. 0 allows nothing.",
    )


class Allowance(models.Model):
    """What one person may spend, each member of a group, everybody who has nothing else, or all together.

    An empty amount passes to the next: person, groups (the largest), everybody. The ceiling is of what all
    people spend together, and holds beside any of these.
    """

    everybody = models.BooleanField(null=True, default=None, unique=True, editable=False)
    is_ceiling = models.BooleanField(
        "ceiling of the installation",
        null=True,
        blank=True,
        default=None,
        unique=True,
        help_text="What all people together may spend, whatever is set for them.",
    )
    group = models.OneToOneField(
        "auth.Group", null=True, blank=True, on_delete=models.CASCADE, related_name="allowance"
    )
    owner = models.OneToOneField(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.CASCADE,
        related_name="allowance",
        verbose_name="user",
    )
    usd_per_day = usd_field()
    usd_per_month = usd_field()
    warn_percent = models.PositiveSmallIntegerField(default=80)
    counts_emulator = models.BooleanField(
        default=False, help_text="Whether budgets also count what the emulator's answers would have cost."
    )

    objects = AllowanceQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(is_ceiling=True, everybody=None, group=None, owner=None)
                | Q(is_ceiling=None, everybody=True, group=None, owner=None)
                | Q(is_ceiling=None, everybody=None, group__isnull=False, owner=None)
                | Q(is_ceiling=None, everybody=None, group=None, owner__isnull=False),
                name="allowance_of_one",
            )
        ]

    def __str__(self) -> str:
        return "the installation" if self.is_ceiling else str(self.owner or self.group or "everybody")

    def save(self, *args: Any, **kwargs: Any) -> None:
        self._set_everybody()
        super().save(*args, **kwargs)

    def clean(self) -> None:
        """Raises ValidationError where the row is of two, or there is one of them already."""
        self._set_everybody()
        if (self.owner_id is not None) + (self.group_id is not None) + bool(self.is_ceiling) > 1:
            raise ValidationError("Choose one of them: a group, a user, or the ceiling of the installation.")
        others = Allowance.objects.exclude(pk=self.pk)
        if self.everybody and others.filter(everybody=True).exists():
            raise ValidationError("The allowance of everybody is set already: change that row.")
        if self.is_ceiling and others.filter(is_ceiling=True).exists():
            raise ValidationError("The ceiling is set already: change that row.")

    def _set_everybody(self) -> None:
        self.is_ceiling = self.is_ceiling or None
        nobody = self.owner_id is None and self.group_id is None and not self.is_ceiling
        self.everybody = True if nobody else None


def _of_person() -> "models.QuerySet[Allowance, Allowance]":
    owner = parameter(Allowance, "owner")
    of_person = Q(owner=owner) | Q(group__user=owner)
    return Allowance.objects.filter(of_person | Q(everybody=True) | Q(is_ceiling=True))


_applying: Reading[Allowance] = Reading(_of_person)


class ReservationQuerySet(models.QuerySet["Reservation"]):
    def held(self) -> Self:
        return self.filter(expires_at__gt=timezone.now())

    def expired(self) -> Self:
        """Those of processes that died."""
        return self.filter(expires_at__lte=timezone.now())


def in_twenty_minutes() -> Any:
    return timezone.now() + HELD_FOR


class Reservation(models.Model):
    """Money for a request under way that has no exchange: a title, a draft, a call with the server's key.

    It is deleted in the transaction that books what the request cost, or when nothing is booked. An exchange
    has its reservation in a column (`Exchange.reserved_usd`), which holds as long as it is open.
    """

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="reservations")
    session = models.ForeignKey("Session", null=True, on_delete=models.CASCADE, related_name="reservations")
    usd = models.DecimalField(max_digits=14, decimal_places=8, help_text="The most that it may cost.")
    expires_at = models.DateTimeField(default=in_twenty_minutes)

    objects = ReservationQuerySet.as_manager()

    def __str__(self) -> str:
        return f"{self.usd} until {self.expires_at:%H:%M:%S}"
