"""`manage.py link`: prints a sign-in link."""

from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError
from django.urls import reverse

from sessions_app.accounts.owner import local_owner
from sessions_app.management.served_address import served_at
from sessions_app.models import SignInLink


class Command(BaseCommand):
    help = "Print a link that signs a person in once, within ten minutes."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "user", nargs="?", default="", help="whom it signs in; default: the first administrator"
        )
        parser.add_argument(
            "--base",
            default=public_address(),
            help="address of the running server (default: %(default)s)",
        )

    def handle(self, *args: Any, user: str, base: str, **options: Any) -> None:
        person = find(user) if user else local_owner()
        path = reverse("sign-in-link", args=[SignInLink.issue(person)])
        self.stdout.write(base.rstrip("/") + path)


def public_address() -> str:
    """The first of CSRF_TRUSTED_ORIGINS that is one address, else that of the server that runs."""
    return next((one for one in settings.CSRF_TRUSTED_ORIGINS if "*" not in one), served_at())


def find(name: str) -> User:
    person = User.objects.filter(username=name, is_active=True).first()
    if person is None:
        raise CommandError(f"There is no active user named {name!r}.")
    return person
