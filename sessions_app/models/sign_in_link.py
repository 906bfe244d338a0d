"""Sign-in links: for one person, valid once and for ten minutes."""

import hashlib
import secrets
from datetime import timedelta
from typing import ClassVar

from django.conf import settings
from django.contrib.auth.models import User
from django.db import models
from django.utils import timezone

LIFETIME = timedelta(minutes=10)


def token_digest(token: str) -> str:
    """The token has 256 random bits, so a plain hash is enough."""
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()


class SignInLink(models.Model):
    """Stores only the hash of its token."""

    token_hash = models.CharField(max_length=64, unique=True)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="sign_in_links")
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True, blank=True)

    objects: ClassVar[models.Manager["SignInLink"]] = models.Manager()

    def __str__(self) -> str:
        return f"sign-in link of {self.user}"

    @classmethod
    def issue(cls, user: User) -> str:
        """Returns a new token for the user and deletes the user's expired links."""
        token = secrets.token_urlsafe(32)
        now = timezone.now()
        cls.objects.filter(user=user, expires_at__lte=now).delete()
        cls.objects.create(token_hash=token_digest(token), user=user, expires_at=now + LIFETIME)
        return token

    @classmethod
    def is_live(cls, token: str) -> bool:
        return cls._live(token).exists()

    @classmethod
    def redeem(cls, token: str) -> User | None:
        """Marks the link as used and returns its user; None when it is unknown, used or expired."""
        # One conditional UPDATE: of two requests with the same token only one changes the row.
        if not cls._live(token).update(used_at=timezone.now()):
            return None
        user: User = cls.objects.select_related("user").get(token_hash=token_digest(token)).user
        return user

    @classmethod
    def _live(cls, token: str) -> models.QuerySet["SignInLink"]:
        return cls.objects.filter(
            token_hash=token_digest(token), used_at=None, expires_at__gt=timezone.now(), user__is_active=True
        )
