"""Addresses under which other programs reach the model through Pipeweb."""

import hashlib
import secrets
import uuid
from datetime import timedelta
from typing import TYPE_CHECKING, Self

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from sessions_app.hosts import EMULATOR, GOOGLE
from sessions_app.log_codes import LoggedAction
from sessions_app.models.audit_entry import AuditEntry, record

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser, User

TOKEN_BYTES = 16
"""Random bytes of a token: 128 bits."""

LIFETIME = timedelta(days=90)
"""How long an address lives whose owner names no other time."""

LONGEST_DAYS = 36_500
"""The longest life of an address that ends."""

LIVING = 20
"""Addresses that one person may have at a time."""

NAME_LENGTH = 80


OF_FILE = "har:"
"""How `token_hash` begins where no token opens the address: it stands for an imported file."""


def capture_digest(token: str) -> str:
    """The token has 128 random bits, so a plain hash is enough."""
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()


class CaptureAddressQuerySet(models.QuerySet["CaptureAddress"]):
    def of(self, user: "User | AnonymousUser") -> Self:
        return self.filter(owner_id=user.pk)

    def living(self) -> Self:
        """Those that relay: neither revoked nor expired."""
        return self.filter(Q(expires_at=None) | Q(expires_at__gt=timezone.now()), revoked_at=None)

    def revoke(self) -> int:
        return self.filter(revoked_at=None).update(revoked_at=timezone.now())

    def of_file(self, owner_id: int, digest: str, name: str) -> tuple["CaptureAddress", bool]:
        """The address that stands for a person's imported file, and whether it is new. It never relays.

        `digest` is that of the file, so that the same one is recognised. `expires_at` is empty until the
        import has ended.
        """
        facts = {
            "name": name.strip()[:NAME_LENGTH],
            "owner_id": owner_id,
            "revoked_at": timezone.now(),
            "upstream": CaptureAddress.Upstream.PROVIDER,
        }
        key = OF_FILE + capture_digest(f"{owner_id}:{digest}")[:60]
        return self.get_or_create(token_hash=key, defaults=facts)

    def log_server_key(self, pk: int, owner_id: int) -> None:
        """Logs the first recorded call of a day that an address made with the installation's key."""
        today = timezone.now().replace(hour=0, minute=0, second=0, microsecond=0)
        address = self.only("public", "owner_id").get(pk=pk)
        known = AuditEntry.objects.about(owner_id).filter(action=LoggedAction.CAPTURE_KEY_USED, at__gte=today)
        if not known.filter(key=str(address.public)).exists():
            record(LoggedAction.CAPTURE_KEY_USED, on=address)

    def count_missed(self, pk: int, requests: int) -> None:
        """So many requests were relayed and could not be recorded."""
        self.filter(pk=pk).update(missed=F("missed") + requests, missed_at=timezone.now())


class CaptureAddress(models.Model):
    """A person's address for other programs. The token that opens it is stored as a hash only.

    A revoked or expired one stays with what was recorded, so that its page can tell why it refuses.
    """

    class Upstream(models.TextChoices):
        PROVIDER = "provider", "Google"
        EMULATOR = "emulator", "the built-in emulator"

    public = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="capture_addresses"
    )
    name = models.CharField(max_length=NAME_LENGTH)
    token_hash = models.CharField(max_length=64, unique=True)
    upstream = models.CharField(max_length=10, choices=Upstream, default=Upstream.PROVIDER)
    is_paused = models.BooleanField(default=False, help_text="Relays without recording.")
    uses_server_key = models.BooleanField(
        default=False, help_text="The server's key in place of the program's: calls spend the owner's budget."
    )
    expires_at = models.DateTimeField(null=True, blank=True, help_text="Empty: never.")
    revoked_at = models.DateTimeField(null=True, blank=True)
    missed = models.PositiveIntegerField(
        default=0, help_text="Requests that were relayed and could not be recorded."
    )
    missed_at = models.DateTimeField(null=True, blank=True)
    regroupings = models.PositiveIntegerField(
        default=0, help_text="Counts changes of its sessions by hand: what processes remember is read again."
    )
    created_at = models.DateTimeField(auto_now_add=True)

    objects = CaptureAddressQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return str(self.public)

    @property
    def is_of_file(self) -> bool:
        """Whether it stands for an imported file."""
        return self.token_hash.startswith(OF_FILE)

    @property
    def base_url(self) -> str:
        """Where its requests go."""
        if self.upstream == CaptureAddress.Upstream.EMULATOR:
            return EMULATOR
        return settings.GOOGLE_GEMINI_BASE_URL or GOOGLE

    @classmethod
    def issue(
        cls,
        owner_id: int,
        name: str,
        *,
        upstream: str = Upstream.PROVIDER,
        lifetime: timedelta | None = LIFETIME,
        uses_server_key: bool = False,
    ) -> tuple["CaptureAddress", str]:
        """A new address and its token, which is not kept. `lifetime` None: until it is revoked."""
        token = secrets.token_urlsafe(TOKEN_BYTES)
        row = cls.objects.create(
            owner_id=owner_id,
            name=name.strip()[:NAME_LENGTH],
            token_hash=capture_digest(token),
            upstream=upstream,
            uses_server_key=uses_server_key,
            expires_at=None if lifetime is None else timezone.now() + lifetime,
        )
        record(LoggedAction.CAPTURE_TOKEN_MADE, on=row, uses_server_key=uses_server_key)
        return row, token

    @property
    def is_living(self) -> bool:
        return self.revoked_at is None and not self.is_expired

    @property
    def is_expired(self) -> bool:
        return self.expires_at is not None and self.expires_at <= timezone.now()
