"""Switching the sign-in of a team on, off and on again: nobody is moved, and nobody is in the way."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.server import manage

TEAM = {"PIPEWEB_ACCOUNTS": "team"}

MAKE = """
from allauth.account.models import EmailAddress, EmailConfirmation
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount, SocialToken
from allauth.usersessions.models import UserSession
from django.contrib.auth.models import User
for user in User.objects.filter(username__in=["ann", "ben"]):
    address = EmailAddress.objects.create(user=user, email=f"{user}@example.org")
    EmailConfirmation.objects.create(email_address=address, key=user.username, sent=user.date_joined)
    Authenticator.objects.create(user=user, type="totp", data={"secret": "x"})
    UserSession.objects.create(user=user, ip="192.0.2.1", session_key=user.username)
    account = SocialAccount.objects.create(user=user, provider="oidc", uid=user.username, extra_data={})
    SocialToken.objects.create(account=account, token="t")
"""
CHECK = """
from django.contrib.auth import authenticate
print(*(bool(authenticate(None, username=name, password="wonderland")) for name in ("ann", "ben")))
"""
PEOPLE = """
from django.contrib.auth.models import User
for name in ("ann", "ben"): User.objects.create_user(name, password="wonderland")
"""


def run(folder: Path, *arguments: str, **variables: str) -> str:
    done = manage(folder, *arguments, **variables)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.strip()


def shell(folder: Path, program: str, **variables: str) -> str:
    return run(folder, "shell", "--no-imports", "-c", program, **variables)


def keys_of_people(folder: Path) -> dict[str, int]:
    """Table → rows, of those that name a person."""
    with closing(sqlite3.connect(folder / "pipeweb.sqlite3")) as database:
        tables = ("account_emailaddress", "mfa_authenticator", "usersessions_usersession")
        more = ("account_emailconfirmation", "socialaccount_socialaccount", "socialaccount_socialtoken")
        return {
            table: database.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
            for table in (*tables, *more)
        }


@pytest.mark.slow
def test_it_is_switched_on_off_and_on_again(tmp_path: Path) -> None:
    run(tmp_path, "migrate", "--verbosity", "0")
    shell(tmp_path, PEOPLE)
    run(tmp_path, "migrate", "--verbosity", "0", **TEAM)
    assert shell(tmp_path, CHECK, **TEAM) == "True True"
    shell(tmp_path, MAKE, **TEAM)
    assert set(keys_of_people(tmp_path).values()) == {2}
    assert shell(tmp_path, CHECK) == "True True"
    run(tmp_path, "migrate", "--check")
    run(tmp_path, "erase", "ann", "--yes", "--verbosity", "0")
    assert set(keys_of_people(tmp_path).values()) == {1}, "also while nobody knows the tables"
    run(tmp_path, "migrate", "--check", **TEAM)
    run(tmp_path, "erase", "ben", "--yes", "--verbosity", "0", **TEAM)
    assert set(keys_of_people(tmp_path).values()) == {0}
