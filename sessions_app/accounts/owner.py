"""The person whose machine this is."""

from django.contrib.auth.models import User

NAME = "owner"


def local_owner() -> User:
    """The first administrator; made without a password when there is none: links sign them in."""
    owner = User.objects.filter(is_superuser=True, is_active=True).order_by("pk").first()
    return owner or User.objects.create_superuser(NAME, password=None)


def has_password() -> bool:
    """Whether some administrator can be asked for a password."""
    administrators = User.objects.filter(is_superuser=True, is_active=True)
    return any(person.has_usable_password() for person in administrators)
