"""Two steps: a password alone signs nobody in who has a second factor, on no page and on no socket."""

from datetime import timedelta
from unittest import mock

import pytest
from allauth.mfa.models import Authenticator
from django.contrib.auth.models import User
from django.test import Client, override_settings
from django.urls import reverse
from django.utils import timezone

from sessions_app.accounts.sign_ins import SignInWay, signed_in_users
from sessions_app.accounts.throttle import ACCOUNT_FAILURES, WINDOW
from sessions_app.log_codes import LoggedAction
from sessions_app.models import AuditEntry, SignInLink
from sessions_app.wording import sign_ins
from tests.team.people import Person, code_of, is_signed_in
from tests.wording.skeleton import skeleton


def key_of(client: Client) -> str:
    return str(client.session.session_key)


def test_a_password_is_enough_without_a_second_factor(alice_at: Person) -> None:
    assert alice_at.sign_in().status_code == 302 and is_signed_in(alice_at.client)
    assert AuditEntry.objects.filter(action=LoggedAction.SIGNED_IN).get().figures == {
        "way": SignInWay.PASSWORD
    }


def test_a_password_alone_opens_no_page_no_admin_and_no_socket(guarded: Person) -> None:
    User.objects.filter(pk=guarded.user.pk).update(is_staff=True, is_superuser=True)
    browser = Client()
    answer = guarded.sign_in(browser)
    assert answer["Location"] == reverse("mfa_authenticate")
    for path in (reverse("home"), reverse("admin:index"), reverse("security"), reverse("mfa_activate_totp")):
        for headers in ({}, {"HX-Request": "true"}):
            answer = browser.get(path, headers=headers)
            assert answer["Location"].startswith((reverse("sign-in"), "/admin/login/"))
    assert signed_in_users([key_of(browser)]) == {}
    assert browser.get("/admin/login/?next=/admin/")["Location"].startswith(reverse("sign-in"))


def test_password_and_code_sign_in_and_the_log_says_so(guarded: Person) -> None:
    browser = Client()
    guarded.sign_in(browser)
    assert guarded.give_code(code_of(guarded.secret), browser).status_code == 302
    assert is_signed_in(browser) and key_of(browser) in signed_in_users([key_of(browser)])
    entry = AuditEntry.objects.filter(action=LoggedAction.SIGNED_IN).order_by("-pk")[0]
    assert entry.figures == {"way": SignInWay.SECOND_FACTOR}


def test_a_code_works_once_also_half_a_minute_later(guarded: Person) -> None:
    code = code_of(guarded.secret, 1)
    first, second = Client(), Client()
    guarded.sign_in(first)
    guarded.give_code(code, first)
    guarded.sign_in(second)
    with mock.patch("time.time", return_value=timezone.now().timestamp() + 31):
        assert guarded.give_code(code, second).status_code == 200
    assert is_signed_in(first) and not is_signed_in(second)


def test_a_recovery_code_works_once(guarded: Person) -> None:
    code = guarded.recovery[3]
    first, second = Client(), Client()
    guarded.sign_in(first)
    guarded.give_code(code, first)
    assert is_signed_in(first)
    guarded.sign_in(second)
    with mock.patch("sessions_app.accounts.team.forms.cache.get", return_value=None):
        assert guarded.give_code(code, second).status_code == 200
    assert not is_signed_in(second)


@pytest.mark.parametrize("is_recovery", [False, True])
def test_after_five_wrong_codes_even_the_right_one_is_not_looked_at(
    guarded: Person, is_recovery: bool
) -> None:
    """From whatever addresses: who tries codes knows the password."""
    for number in range(ACCOUNT_FAILURES):
        browser = Client(REMOTE_ADDR=f"192.0.2.{number}")
        guarded.sign_in(browser)
        assert guarded.give_code("000000", browser).status_code == 200
    browser = Client(REMOTE_ADDR="192.0.2.99")
    guarded.sign_in(browser)
    right = guarded.recovery[0] if is_recovery else code_of(guarded.secret)
    refused = guarded.give_code(right, browser)
    assert refused.status_code == 429 and 0 < int(refused["Retry-After"]) <= WINDOW.total_seconds()
    assert not is_signed_in(browser)
    moment = timezone.now() + WINDOW + timedelta(seconds=1)
    with mock.patch("sessions_app.accounts.throttle.timezone.now", return_value=moment):
        assert guarded.give_code(right, browser).status_code == 302


def test_wrong_passwords_are_counted_as_before(alice_at: Person) -> None:
    for _ in range(ACCOUNT_FAILURES):
        assert alice_at.sign_in(password="wrong").status_code == 200
    refused = alice_at.sign_in()
    assert refused.status_code == 429 and int(refused["Retry-After"]) > 0
    assert AuditEntry.objects.filter(action=LoggedAction.SIGN_IN_FAILED).count() == ACCOUNT_FAILURES


def test_a_link_of_the_machines_owner_stands_for_both_steps(guarded: Person) -> None:
    browser = Client()
    browser.post(reverse("sign-in-link", args=[SignInLink.issue(guarded.user)]))
    assert is_signed_in(browser) and signed_in_users([key_of(browser)])
    entry = AuditEntry.objects.filter(action=LoggedAction.SIGNED_IN).order_by("-pk")[0]
    assert entry.figures == {"way": SignInWay.LINK}


def test_a_session_of_before_the_second_factor_is_no_sign_in_any_more(guarded: Person) -> None:
    """As one that was begun while the sign-in of a team was switched off."""
    old = Client()
    old.force_login(guarded.user)
    key = key_of(old)
    assert signed_in_users([key]) == {}
    assert old.get(reverse("home"))["Location"].startswith(reverse("sign-in"))
    assert "_auth_user_id" not in old.session


def test_secrets_are_stored_so_that_the_database_alone_is_of_no_use(guarded: Person) -> None:
    stored = str(list(Authenticator.objects.values_list("data", flat=True)))
    assert guarded.secret not in stored
    assert not any(code in stored for code in guarded.recovery)


def test_another_secret_key_lets_no_code_in_and_breaks_no_page(guarded: Person) -> None:
    browser = Client()
    with override_settings(SECRET_KEY="another"):
        guarded.sign_in(browser)
        assert guarded.give_code(code_of(guarded.secret), browser).status_code == 200
        assert not is_signed_in(browser)


def test_a_closed_account_says_so(guarded: Person) -> None:
    User.objects.filter(pk=guarded.user.pk).update(is_active=False)
    browser = Client()
    guarded.sign_in(browser)
    assert not is_signed_in(browser)


def test_other_words_change_the_page_and_nothing_else(
    guarded: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser = Client()
    guarded.sign_in(browser)
    before = browser.get(reverse("mfa_authenticate")).content.decode()
    for texts in (sign_ins.STEP_TITLES, sign_ins.STEP_TEXTS, sign_ins.STEP_BUTTONS):
        monkeypatch.setitem(texts, sign_ins.SignInStep.CODE, "reworded")
    after = browser.get(reverse("mfa_authenticate")).content.decode()
    assert after.count("reworded") == 4 and skeleton(before) == skeleton(after)
