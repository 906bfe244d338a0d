"""The administrator of a local installation."""

from django.contrib.auth.models import User

OWNER_NAME = "owner"


def local_owner() -> User:
    """The first administrator; created without a password (sign-in by link) if there is none."""
    owner = User.objects.filter(is_superuser=True, is_active=True).order_by("pk").first()
    return owner or User.objects.create_superuser(OWNER_NAME, password=None)


def has_password() -> bool:
    """Whether any administrator can sign in with a password."""
    administrators = User.objects.filter(is_superuser=True, is_active=True)
    return any(person.has_usable_password() for person in administrators)
