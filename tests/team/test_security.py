"""One's own password, second factor and devices: each change is confirmed, ends the others and is logged."""

from datetime import timedelta
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from allauth.usersessions.models import UserSession
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session as StoredSession
from django.db import OperationalError
from django.test import Client
from django.urls import reverse

from sessions_app.accounts.team.devices import BROWSERS, SYSTEMS, name_in
from sessions_app.chat.person_export import account_of
from sessions_app.log_codes import LoggedAction
from sessions_app.models import AuditEntry
from tests.team.people import Person, code_of, is_signed_in

CONFIRM = "/account/security/confirm/"
NEW = {"password1": "through-the-glass", "password2": "through-the-glass"}


def logged(*actions: LoggedAction) -> list[str]:
    return list(AuditEntry.objects.filter(action__in=actions).order_by("pk").values_list("action", flat=True))


def test_a_changed_password_ends_the_others_and_is_logged_once(alice_at: Person) -> None:
    alice_at.sign_in()
    other = alice_at.elsewhere()
    place = reverse("account_change_password")
    assert alice_at.client.post(place, {"oldpassword": "wonderland", **NEW}).status_code == 302
    assert is_signed_in(alice_at.client) and not is_signed_in(other)
    assert logged(LoggedAction.PASSWORD_CHANGED) == [LoggedAction.PASSWORD_CHANGED]


def test_a_wrong_old_password_counts_as_a_failed_sign_in(alice_at: Person) -> None:
    alice_at.sign_in()
    place = reverse("account_change_password")
    answers = [alice_at.client.post(place, {"oldpassword": f"no {n}", **NEW}) for n in range(5)]
    assert {answer.status_code for answer in answers} == {200}
    assert alice_at.client.post(place, {"oldpassword": "wonderland", **NEW}).status_code == 429
    assert len(logged(LoggedAction.SIGN_IN_FAILED)) == 5


@pytest.mark.parametrize(
    ("route", "method"),
    [
        ("mfa_activate_totp", "get"),
        ("mfa_activate_totp", "post"),
        ("sign-out-everywhere", "post"),
    ],
)
def test_what_matters_asks_who_it_is(alice_at: Person, route: str, method: str) -> None:
    alice_at.sign_in()
    answer = getattr(alice_at.client, method)(reverse(route))
    assert answer["Location"].startswith(CONFIRM)
    assert not Authenticator.objects.exists()


@pytest.mark.parametrize("route", ["mfa_deactivate_totp", "mfa_generate_recovery_codes"])
def test_so_does_what_changes_a_second_factor(guarded: Person, route: str) -> None:
    other = guarded.elsewhere()
    assert other.post(reverse(route))["Location"].startswith(CONFIRM)
    assert Authenticator.objects.count() == 2


def test_turning_it_on_ends_the_others_and_both_are_logged(alice_at: Person, transactional_db: None) -> None:
    alice_at.sign_in()
    other = alice_at.elsewhere()
    key = other.session.session_key
    alice_at.turn_on()
    assert not StoredSession.objects.filter(session_key=key).exists(), "so that its sockets end at once"
    assert is_signed_in(alice_at.client) and not is_signed_in(other)
    made = (LoggedAction.SECOND_FACTOR_ADDED, LoggedAction.RECOVERY_CODES_MADE)
    assert sorted(logged(*made)) == sorted(made)


def test_turning_it_off_does_too(guarded: Person) -> None:
    other = guarded.elsewhere()
    assert guarded.client.post(reverse("mfa_deactivate_totp")).status_code == 302
    assert not Authenticator.objects.exists() and not is_signed_in(other)
    assert is_signed_in(guarded.client)
    assert logged(LoggedAction.SECOND_FACTOR_REMOVED) == [LoggedAction.SECOND_FACTOR_REMOVED]


def test_recovery_codes_are_shown_once(guarded: Person) -> None:
    again = guarded.client.get(reverse("mfa_view_recovery_codes"))
    assert not any(code in again.content.decode() for code in guarded.recovery)
    guarded.client.post(reverse("mfa_generate_recovery_codes"))
    fresh = guarded.client.get(reverse("mfa_view_recovery_codes")).context["unused_codes"]
    assert len(fresh) == 10 and not set(fresh) & set(guarded.recovery)
    browser = Client()
    guarded.sign_in(browser)
    guarded.give_code(guarded.recovery[0], browser)
    assert not is_signed_in(browser), "the codes of before work no more"


def test_a_code_confirms_where_there_is_no_password(guarded: Person) -> None:
    guarded.user.refresh_from_db()
    guarded.user.set_unusable_password()
    guarded.user.save()
    browser = Client()
    session = browser.session
    browser.force_login(guarded.user)
    session = browser.session
    session["signed_in_by_link"] = True
    session.save()
    place = "/account/security/confirm/code/"
    assert browser.post(reverse("account_set_password"), NEW)["Location"].startswith(place)
    assert browser.post(place, {"code": code_of(guarded.secret)}).status_code == 302
    assert browser.post(reverse("account_set_password"), NEW).status_code == 302


def test_devices_are_listed_and_one_is_signed_out(alice_at: Person) -> None:
    alice_at.sign_in()
    other = alice_at.elsewhere()
    shown = alice_at.client.get(reverse("security")).context["devices"]
    assert [one.is_this for one in shown] == [True, False]
    alice_at.confirm()
    assert alice_at.client.post(reverse("end-device", args=[shown[1].key])).status_code == 302
    assert is_signed_in(alice_at.client) and not is_signed_in(other)
    assert len(alice_at.client.get(reverse("security")).context["devices"]) == 1
    assert logged(LoggedAction.DEVICE_SIGNED_OUT) == [LoggedAction.DEVICE_SIGNED_OUT]


def test_a_device_of_somebody_else_is_not_found(alice_at: Person, stranger: Client, bob: User) -> None:
    stranger.get(reverse("home"))
    alice_at.sign_in()
    alice_at.confirm()
    key = UserSession.objects.get(user=bob).pk
    assert alice_at.client.post(reverse("end-device", args=[key])).status_code == 404
    assert is_signed_in(stranger)


def test_signing_out_everywhere_ends_sessions_that_no_row_tells_of(alice_at: Person) -> None:
    alice_at.sign_in()
    unlisted = Client()
    unlisted.force_login(alice_at.user)
    other = alice_at.elsewhere()
    alice_at.confirm()
    alice_at.client.post(reverse("sign-out-everywhere"))
    assert is_signed_in(alice_at.client)
    assert not is_signed_in(unlisted) and not is_signed_in(other)
    entry = AuditEntry.objects.get(action=LoggedAction.SIGNED_OUT_EVERYWHERE)
    assert (entry.actor, entry.figures) == ("alice", {"devices": 2})


@pytest.mark.parametrize(
    ("agent", "named"),
    [
        ("Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", ("Firefox", "Linux")),
        (
            "Mozilla/5.0 (Windows NT 10.0; Win64; x64) Chrome/140.0 Safari/537.36 Edg/140.0",
            ("Edge", "Windows"),
        ),
        (
            "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Version/18 Safari/604",
            ("Safari", "iPhone"),
        ),
        (
            "Mozilla/5.0 (Linux; Android 15) Chrome/140.0 Mobile Safari/537",
            ("Chrome", "Android"),
        ),
        ("curl/8", ("", "")),
    ],
)
def test_a_device_is_named_as_people_call_it(agent: str, named: tuple[str, str]) -> None:
    assert (name_in(agent, BROWSERS), name_in(agent, SYSTEMS)) == named


def test_the_admins_own_page_of_passwords_leads_to_this_one(administrator: Client) -> None:
    found: Any = administrator.get("/admin/password_change/")
    assert found["Location"] == reverse("account_change_password")


def test_a_browser_is_noted_seldom_and_no_fault_of_it_keeps_a_page_away(
    alice_at: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    alice_at.sign_in()
    is_signed_in(alice_at.client)
    before = UserSession.objects.get().last_seen_at
    assert is_signed_in(alice_at.client) and UserSession.objects.get().last_seen_at == before
    monkeypatch.setattr("sessions_app.accounts.team.devices.NOTED_EVERY", timedelta())
    monkeypatch.setattr(type(UserSession.objects), "create_from_request", refuse)
    assert is_signed_in(alice_at.client)


def refuse(*_: object) -> None:
    raise OperationalError("database or disk is full")


def test_an_export_has_the_devices_and_no_secret(guarded: Person) -> None:
    account = account_of(guarded.user)
    (device,) = account["usersessions_usersession"]
    assert device["ip"] == "127.0.0.1" and "session_key" not in device
    kinds = [row["type"] for row in account["mfa_authenticator"]]
    assert sorted(kinds) == ["recovery_codes", "totp"]
    stored = str([row.data for row in Authenticator.objects.all()])
    assert "secret" in stored and "secret" not in str(account) and "seed" not in str(account)
