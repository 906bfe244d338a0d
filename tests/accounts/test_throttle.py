"""Wrong passwords: how many, from where, by which way."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any
from unittest import mock

import pytest
from django.contrib.auth.models import User
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from sessions_app.accounts.throttle import ACCOUNT_FAILURES, ADDRESS_FAILURES, WINDOW
from sessions_app.log_codes import LoggedAction
from sessions_app.models import AuditEntry, SignInLink


def attempt(name: str = "alice", password: str = "wrong", address: str = "192.0.2.1") -> Any:
    return Client(REMOTE_ADDR=address).post(reverse("sign-in"), {"username": name, "password": password})


def fail(count: int, **attempts: str) -> list[HttpResponse]:
    return [attempt(**attempts) for _ in range(count)]


@contextmanager
def later(by: timedelta) -> Iterator[None]:
    moment = timezone.now() + by
    with mock.patch("sessions_app.accounts.throttle.timezone.now", return_value=moment):
        yield


def test_after_five_failures_even_the_right_password_is_not_looked_at(alice: User) -> None:
    assert [answer.status_code for answer in fail(ACCOUNT_FAILURES)] == [200] * ACCOUNT_FAILURES
    refused = attempt(password="wonderland")
    assert refused.status_code == 429 and 0 < int(refused["Retry-After"]) <= WINDOW.total_seconds()
    assert "Try again in 5 minutes" in refused.content.decode()
    assert not refused.wsgi_request.user.is_authenticated


def test_the_addresses_of_one_ipv6_network_are_one(alice: User) -> None:
    codes = [attempt(address=f"2001:db8:0:1::{n:x}").status_code for n in range(1, ACCOUNT_FAILURES + 2)]
    assert codes == [200] * ACCOUNT_FAILURES + [429]
    assert attempt(password="wonderland", address="2001:db8:0:2::1").status_code == 302


@pytest.mark.parametrize("form", ["192.0.2.{}", "::ffff:192.0.2.{}"])
def test_addresses_of_ipv4_are_each_their_own(alice: User, form: str) -> None:
    """Also as a socket for both kinds tells them."""
    fail(ACCOUNT_FAILURES, address=form.format(1))
    assert attempt(password="wonderland", address=form.format(2)).status_code == 302
    assert attempt(password="wonderland", address="192.0.2.1").status_code == 429


def test_one_failure_less_is_not_refused(alice: User) -> None:
    fail(ACCOUNT_FAILURES - 1)
    assert attempt(password="wonderland").status_code == 302


def test_the_refusal_ends(alice: User) -> None:
    fail(ACCOUNT_FAILURES)
    with later(WINDOW - timedelta(seconds=10)):
        assert attempt(password="wonderland").status_code == 429
    with later(WINDOW):
        assert attempt(password="wonderland").status_code == 302


def test_a_clock_that_is_set_back_does_not_prolong_it(alice: User) -> None:
    fail(1)
    (seen,) = AuditEntry.objects.filter(action=LoggedAction.SIGN_IN_FAILED)
    at, facts = timezone.now() + timedelta(hours=1), {"address": seen.address, "person_key": alice.pk}
    for _ in range(ACCOUNT_FAILURES):
        AuditEntry.objects.create(action=seen.action, at=at, **facts)
    assert attempt(password="wonderland").status_code == 302


def test_refused_attempts_do_not_prolong_it(alice: User) -> None:
    fail(ACCOUNT_FAILURES + 3)
    assert AuditEntry.objects.filter(action=LoggedAction.SIGN_IN_FAILED).count() == ACCOUNT_FAILURES


def test_nobody_locks_a_person_out_from_elsewhere(alice: User) -> None:
    fail(ACCOUNT_FAILURES, address="192.0.2.9")
    assert attempt(password="wonderland").status_code == 302


def test_another_person_at_the_address_still_comes_in(alice: User, bob: User) -> None:
    fail(ACCOUNT_FAILURES)
    bob.set_password("builder")
    bob.save()
    assert attempt("bob", "builder").status_code == 302


def test_an_address_that_tries_many_names_is_refused_for_all(alice: User, bob: User) -> None:
    now = timezone.now()
    fail(1, name="bob")
    (seen,) = AuditEntry.objects.filter(action=LoggedAction.SIGN_IN_FAILED)
    for key in range(ADDRESS_FAILURES - 1):
        AuditEntry.objects.create(action=seen.action, at=now, address=seen.address, person_key=1000 + key)
    assert attempt(password="wonderland").status_code == 429
    assert attempt(password="wonderland", address="192.0.2.9").status_code == 302


def test_a_refusal_does_not_tell_who_has_an_account(alice: User) -> None:
    fail(ACCOUNT_FAILURES, name="nobody")
    assert attempt("nobody").status_code == 429
    fail(ACCOUNT_FAILURES)
    assert attempt().status_code == 429


def test_a_link_signs_in_while_passwords_are_refused(alice: User) -> None:
    fail(ACCOUNT_FAILURES + 1)
    browser = Client(REMOTE_ADDR="192.0.2.1")
    assert browser.post(reverse("sign-in-link", args=[SignInLink.issue(alice)])).status_code == 302


@pytest.mark.parametrize("method", ["get", "post"])
def test_the_admin_takes_no_password_itself(alice: User, method: str) -> None:
    User.objects.update(is_staff=True, is_superuser=True)
    browser = Client()
    fields = {"username": "alice", "password": "wonderland"}
    answer = getattr(browser, method)(
        "/admin/login/?next=/admin/auth/user/", fields if method == "post" else None
    )
    assert answer.status_code == 302 and answer["Location"] == "/sign-in?next=/admin/auth/user/"
    assert "_auth_user_id" not in browser.session


def test_the_admin_leads_through_the_sign_in_page_and_back(alice: User) -> None:
    User.objects.update(is_staff=True, is_superuser=True)
    browser = Client()
    address = browser.get("/admin/", follow=True).redirect_chain[-1][0]
    answer = browser.post(address, {"username": "alice", "password": "wonderland"}, follow=True)
    assert answer.status_code == 200 and answer.redirect_chain == [("/admin/", 302)]


def test_the_admin_does_not_lead_to_another_site(alice: User) -> None:
    User.objects.update(is_staff=True)
    browser = Client()
    browser.force_login(User.objects.get())
    answer = browser.get("/admin/login/?next=https://evil.example/", follow=True)
    assert [address for address, _ in answer.redirect_chain][1:] == ["/"]


def test_who_is_no_staff_is_told_so_instead_of_led_in_a_circle(client: Client) -> None:
    assert client.get("/admin/", follow=True).status_code == 403
