"""The local owner and the `link` command."""

from io import StringIO
from urllib.parse import urlsplit

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client
from pytest_django import Settings

from sessions_app.accounts.owner import has_password, local_owner

pytestmark = pytest.mark.django_db


def print_link(*arguments: str) -> str:
    out = StringIO()
    call_command("link", *arguments, stdout=out)
    return out.getvalue().strip()


def test_a_new_installation_gets_an_owner_without_a_password() -> None:
    owner = local_owner()
    assert owner.is_superuser and not owner.has_usable_password()
    assert local_owner() == owner


def test_the_first_administrator_is_the_owner() -> None:
    boss = User.objects.create_superuser("boss", password="secret")
    assert local_owner() == boss and has_password()


def test_a_password_of_somebody_else_does_not_count(alice: User) -> None:
    local_owner()
    assert not has_password()


def test_the_link_command_prints_a_link_that_works() -> None:
    browser = Client()
    browser.post(urlsplit(print_link("--base", "http://127.0.0.1:9000/")).path)
    assert browser.session["_auth_user_id"] == str(local_owner().pk)


def test_the_link_of_a_deployment_leads_to_its_public_address(settings: Settings) -> None:
    assert print_link().startswith("http://127.0.0.1:8000/sign-in/")
    settings.CSRF_TRUSTED_ORIGINS = ["https://*.example.org", "https://chat.example.org"]
    assert print_link().startswith("https://chat.example.org/sign-in/")


def test_the_link_command_takes_a_name(alice: User) -> None:
    browser = Client()
    browser.post(urlsplit(print_link("alice")).path)
    assert browser.session["_auth_user_id"] == str(alice.pk)


def test_the_link_command_refuses_an_unknown_name() -> None:
    with pytest.raises(CommandError, match="no active user named 'nobody'"):
        print_link("nobody")
