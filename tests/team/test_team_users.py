"""What administrators see and do about sign-ins."""

from typing import Any

import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from django.contrib import admin
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse

from sessions_app.log_codes import LoggedAction
from sessions_app.models import AuditEntry
from tests.team.people import Person, is_signed_in

USERS = "/admin/auth/user/"


def act(client: Client, action: str, *people: User, **said: str) -> Any:
    return client.post(USERS, {"action": action, "_selected_action": [one.pk for one in people], **said})


def test_the_list_and_the_page_say_who_has_a_second_factor(
    guarded: Person, administrator: Client, bob: User
) -> None:
    page = administrator.get(USERS)
    shown = {row.username: row.has_factor for row in page.context["cl"].result_list}
    assert shown == {"alice": True, "bob": False, "root": False}
    text = administrator.get(f"{USERS}{guarded.user.pk}/change/").content.decode()
    assert "Second factor: on" in text and "Signed in on 1 devices" in text
    assert guarded.secret not in text


def test_a_reset_is_asked_logged_and_signs_out(guarded: Person, administrator: Client) -> None:
    page = act(administrator, "reset_factors", guarded.user)
    assert b"alice" in page.content and Authenticator.objects.count() == 2
    act(administrator, "reset_factors", guarded.user, confirmed="yes")
    assert not Authenticator.objects.exists() and not is_signed_in(guarded.client)
    entry = AuditEntry.objects.get(action=LoggedAction.SECOND_FACTOR_REMOVED)
    assert (entry.actor, entry.person_key) == ("root", guarded.user.pk)
    guarded.sign_in()
    assert is_signed_in(guarded.client)


def test_sessions_are_ended(alice_at: Person, administrator: Client) -> None:
    alice_at.sign_in()
    act(administrator, "end_all_sessions", alice_at.user, confirmed="yes")
    assert not is_signed_in(alice_at.client) and is_signed_in(administrator)
    entry = AuditEntry.objects.get(action=LoggedAction.SIGNED_OUT_EVERYWHERE)
    assert (entry.actor, entry.figures) == ("root", {"devices": 1})


@pytest.mark.parametrize("action", ["reset_factors", "end_all_sessions", "confirm_addresses"])
def test_staff_with_every_permission_do_none_of_it(guarded: Person, action: str) -> None:
    staff = User.objects.create_user("sam", is_staff=True)
    staff.user_permissions.set(Permission.objects.all())
    browser = Client()
    browser.force_login(staff)
    act(browser, action, guarded.user, confirmed="yes")
    assert Authenticator.objects.count() == 2 and is_signed_in(guarded.client)
    assert not EmailAddress.objects.exists()


def test_addresses_are_confirmed_once(alice: User, bob: User, administrator: Client) -> None:
    User.objects.update(email="Alice@example.org")
    act(administrator, "confirm_addresses", alice, bob, confirmed="yes")
    row = EmailAddress.objects.get()
    assert (row.email, row.verified) == ("alice@example.org", True), "two people cannot have one address"


def test_allauths_own_pages_are_gone() -> None:
    labels = {model._meta.app_label for model in admin.site._registry}
    assert not labels & {"account", "mfa", "socialaccount", "usersessions"}
    assert reverse("admin:auth_user_changelist") == USERS
