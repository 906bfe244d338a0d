"""The time for which a member of staff may read one session of somebody else."""

from datetime import timedelta
from typing import TYPE_CHECKING, Self

from django.conf import settings
from django.db import models, transaction
from django.utils import timezone

from sessions_app.errors import NotOpened
from sessions_app.log_codes import LoggedAction, RefusedReading
from sessions_app.models.audit_entry import record

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser, User

    from sessions_app.models.session import Session

LIFETIME = timedelta(minutes=30)

REASON_LENGTH = 300
SHORTEST_REASON = 10

READ_CONTENT = "sessions_app.read_content"
"""The permission that nobody has but superusers and those to whom it was given by itself."""


class ContentGrantQuerySet(models.QuerySet["ContentGrant"]):
    def living(self) -> Self:
        return self.filter(closed_at=None, expires_at__gt=timezone.now())

    def of(self, reader: "User | AnonymousUser", session: "Session") -> "ContentGrant | None":
        """The reader's living grant, if they are still staff with the permission."""
        if not may_read_content(reader):
            return None
        return self.living().filter(reader_id=reader.pk, session=session).order_by("-pk").first()

    def open(self, reader: "User", session: "Session", reason: str) -> "ContentGrant":
        """Raises NotOpened. Stands in the log before anything is read."""
        reason = " ".join(reason.split())[:REASON_LENGTH]
        if not may_read_content(reader):
            raise NotOpened(RefusedReading.NO_PERMISSION)
        if len(reason) < SHORTEST_REASON:
            raise NotOpened(RefusedReading.NO_REASON, shortest=SHORTEST_REASON)
        with transaction.atomic():
            minutes = LIFETIME // timedelta(minutes=1)
            record(LoggedAction.CONTENT_OPENED, reader, session, reason=reason, minutes=minutes)
            return self.create(
                reader=reader, session=session, reason=reason, expires_at=timezone.now() + LIFETIME
            )

    def close(self, reader: "User", session: "Session") -> None:
        with transaction.atomic():
            rows = self.living().filter(reader=reader, session=session)
            if rows.update(closed_at=timezone.now()):
                record(LoggedAction.CONTENT_CLOSED, reader, session)


class ContentGrant(models.Model):
    """Made by a person who typed why. It ends by itself, or when they close it."""

    reader = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="content_grants"
    )
    session = models.ForeignKey("Session", on_delete=models.CASCADE, related_name="content_grants")
    reason = models.CharField(max_length=REASON_LENGTH)
    opened_at = models.DateTimeField(default=timezone.now, editable=False)
    expires_at = models.DateTimeField()
    closed_at = models.DateTimeField(null=True, blank=True)

    objects = ContentGrantQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]
        permissions = [("read_content", "Can read the content of other people's sessions, with a reason")]

    def __str__(self) -> str:
        return f"grant {self.pk}"


def may_read_content(person: "User | AnonymousUser") -> bool:
    return person.is_active and person.is_staff and person.has_perm(READ_CONTENT)
