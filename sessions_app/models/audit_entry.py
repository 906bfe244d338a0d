"""The audit log: who did what, to what, and when. Rows are added and never changed."""

import hashlib
import hmac
from contextvars import ContextVar
from datetime import datetime, timedelta
from ipaddress import IPv4Address, IPv6Network, ip_address
from typing import TYPE_CHECKING, Any, NoReturn, Self

from django.conf import settings
from django.db import models
from django.db.models import Model
from django.http import HttpRequest
from django.utils import timezone

from sessions_app.append_only import KEPT_DAYS, REFUSAL
from sessions_app.errors import LogIsKept
from sessions_app.log_codes import LoggedAction

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser, User

    from sessions_app.models.session import Session

request_now: ContextVar[HttpRequest | None] = ContextVar("request_now", default=None)
"""The request that is being answered: its person is the actor where a caller names none."""

NAME_LENGTH = 150

IPV6_PREFIX = 64
"""Bits of the network that a provider gives to one customer, at the least."""


class AuditEntryQuerySet(models.QuerySet["AuditEntry"]):
    """Refuses what would change or delete rows, as the database does (`sessions_app.append_only`)."""

    def update(self, **_: Any) -> NoReturn:
        raise LogIsKept(REFUSAL)

    def delete(self) -> NoReturn:
        raise LogIsKept(REFUSAL)

    def bulk_update(self, *_: Any, **__: Any) -> NoReturn:
        raise LogIsKept(REFUSAL)

    def about(self, person_key: int) -> Self:
        return self.filter(person_key=person_key)

    def on(self, row: Model) -> Self:
        """What was done to this row, the newest first."""
        return self.filter(kind=row._meta.model_name or "", key=_key_of(row)[:64]).order_by("-pk")

    def readings_of(self, person_key: int) -> Self:
        """What others did with the content of the person's sessions."""
        actions = (
            *(LoggedAction.CONTENT_OPENED, LoggedAction.CONTENT_READ, LoggedAction.CONTENT_CLOSED),
            LoggedAction.EXPORTED,
        )
        return self.about(person_key).filter(action__in=actions).exclude(actor_key=person_key)

    def told_to(self, person_key: int) -> Self:
        """What a person may know of the log: what they did themselves, and who read their sessions."""
        own = self.about(person_key).filter(actor_key=person_key)
        return own | self.readings_of(person_key)

    def empty_of(self, person_key: int) -> None:
        """Takes what the rows about an erased person say: figures, and their own name and address.

        What was done and when stays, and so does the name of whoever did it to them, or of the erased person
        where they did something to others or to the installation.
        """
        about = self.about(person_key).filter(emptied_at=None)
        emptied = {"figures": {}, "emptied_at": timezone.now()}
        models.QuerySet.update(about.filter(actor_key=person_key), actor="", address="", **emptied)
        models.QuerySet.update(about.exclude(actor_key=person_key), **emptied)

    def delete_older_than(self, moment: datetime) -> int:
        """For a retention. Raises LogIsKept for rows of the last `KEPT_DAYS`."""
        if moment > timezone.now() - timedelta(days=KEPT_DAYS):
            raise LogIsKept(f"Rows of the last {KEPT_DAYS} days stay.")
        return models.QuerySet.delete(self.filter(at__lt=moment))[0]


class AuditEntry(models.Model):
    """One thing that was done. It names people by key and text, so that it stands when they are erased."""

    at = models.DateTimeField(default=timezone.now, editable=False, db_index=True)
    action = models.CharField(max_length=40, help_text="One of `log_codes.LoggedAction`.")
    actor_key = models.BigIntegerField(null=True, help_text="Primary key of the person who did it.")
    actor = models.CharField(
        max_length=NAME_LENGTH, blank=True, help_text="Their name then; empty: nobody who was signed in."
    )
    person_key = models.BigIntegerField(null=True, db_index=True, help_text="The person whom it concerns.")
    kind = models.CharField(max_length=40, blank=True, help_text="Kind of what it was done to.")
    key = models.CharField(max_length=64, blank=True)
    figures = models.JSONField(default=dict, blank=True, help_text="Changes as old and new; reasons; counts.")
    address = models.CharField(max_length=16, blank=True, help_text="Of the client, as a keyed hash.")
    emptied_at = models.DateTimeField(null=True, help_text="Since when it says nothing of an erased person.")

    objects = AuditEntryQuerySet.as_manager()

    class Meta:
        verbose_name = "entry of the audit log"
        verbose_name_plural = "audit log"
        ordering = ["-pk"]
        indexes = [models.Index(fields=["action", "at"], name="audit_by_action")]

    def __str__(self) -> str:
        return f"entry {self.pk}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Raises LogIsKept for a row that exists."""
        if not self._state.adding:
            raise LogIsKept(REFUSAL)
        super().save(*args, **kwargs)

    def delete(self, *_: Any, **__: Any) -> NoReturn:
        raise LogIsKept(REFUSAL)


def record(
    action: LoggedAction,
    actor: "User | AnonymousUser | None" = None,
    on: Model | type[Model] | None = None,
    *,
    person: int | None = None,
    **figures: Any,
) -> AuditEntry:
    """Adds a row to the log, in the transaction of what it tells of.

    `actor` None: who asks by the present request, or nobody for a command or a task. `on` is a row, or a
    model for its list. `person` is the key of whom it concerns where that is not the owner of `on`. `figures`
    are what the sentence of the action names.
    """
    request = request_now.get()
    if actor is None and request is not None:
        actor = getattr(request, "user", None)
    is_known = actor is not None and actor.is_authenticated
    return AuditEntry.objects.create(
        action=action,
        actor_key=actor.pk if actor is not None and is_known else None,
        actor=actor.get_username()[:NAME_LENGTH] if actor is not None and is_known else "",
        person_key=_owner_of(on) if person is None else person,
        kind=on._meta.model_name or "" if on is not None else "",
        key=_key_of(on)[:64],
        figures=figures,
        address="" if request is None else address_hash(request),
    )


def address_hash(request: HttpRequest) -> str:
    """Tells whether two requests came from one address, and not which: an HMAC with SECRET_KEY.

    Of IPv6 the network counts: whoever has one has its 2**64 addresses.
    """
    address = _network_of(str(request.META.get("REMOTE_ADDR") or ""))
    if not address:
        return ""
    return hmac.new(settings.SECRET_KEY.encode(), address.encode(), hashlib.sha256).hexdigest()[:16]


def _network_of(address: str) -> str:
    try:
        found = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(found, IPv4Address):
        return str(found)
    return str(found.ipv4_mapped or IPv6Network((found, IPV6_PREFIX), strict=False))


def _key_of(row: Model | type[Model] | None) -> str:
    """The public id where a row has one, as pages and links name it."""
    return "" if not isinstance(row, Model) else str(getattr(row, "public", None) or row.pk or "")


def _owner_of(row: Model | type[Model] | None) -> int | None:
    """The person whose row it is: themselves, its owner, that of its session."""
    if not isinstance(row, Model):
        return None
    if row._meta.label == settings.AUTH_USER_MODEL:
        return int(row.pk)
    session: Session | None = getattr(row, "session", None)
    for found in (row, session):
        for name in ("owner_id", "user_id"):
            if isinstance(key := getattr(found, name, None), int):
                return key
    return None
