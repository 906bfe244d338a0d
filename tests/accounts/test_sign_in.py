"""Signing in and out, by password and by link."""

import logging
from datetime import timedelta
from urllib.parse import quote, urljoin, urlsplit

import pytest
from django.conf import settings as configured
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import Settings

from sessions_app.models import SignInLink


def link_of(user: User) -> str:
    return reverse("sign-in-link", args=[SignInLink.issue(user)])


def is_signed_in(client: Client) -> bool:
    return "_auth_user_id" in client.session


def test_a_link_signs_its_user_in(alice: User) -> None:
    browser = Client()
    answer = browser.post(link_of(alice))
    assert answer.status_code == 302 and answer["Location"] == "/"
    assert browser.session["_auth_user_id"] == str(alice.pk)


def test_looking_at_a_link_does_not_use_it_up(alice: User) -> None:
    browser, link = Client(), link_of(alice)
    for _ in range(3):
        assert browser.get(link).status_code == 200
    assert not is_signed_in(browser)
    browser.post(link)
    assert is_signed_in(browser)


def test_a_link_works_once(alice: User) -> None:
    link = link_of(alice)
    Client().post(link)
    second = Client()
    answer = second.post(link)
    assert answer.status_code == 410 and "no longer works" in answer.content.decode()
    assert not is_signed_in(second)


@pytest.mark.parametrize("token", ["unknown", "%00", "é", "x" * 300])
def test_an_unknown_link_is_dead(token: str, alice: User) -> None:
    assert Client().get(f"/sign-in/{token}").status_code == 410


def test_a_link_dies_after_ten_minutes(alice: User) -> None:
    link = link_of(alice)
    SignInLink.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert Client().get(link).status_code == 410
    assert Client().post(link).status_code == 410


def test_a_link_lives_for_ten_minutes(alice: User) -> None:
    link_of(alice)
    left = SignInLink.objects.get().expires_at - timezone.now()
    assert timedelta(minutes=9, seconds=55) < left <= timedelta(minutes=10)


def test_a_barred_user_has_no_way_in(alice: User) -> None:
    link = link_of(alice)
    User.objects.update(is_active=False)
    assert Client().post(link).status_code == 410


def test_the_row_does_not_hold_the_token(alice: User) -> None:
    token = SignInLink.issue(alice)
    row = SignInLink.objects.get()
    assert token not in repr(vars(row)) and len(row.token_hash) == 64


def test_a_new_link_clears_the_dead_ones_away(alice: User) -> None:
    SignInLink.issue(alice)
    SignInLink.objects.update(expires_at=timezone.now())
    SignInLink.issue(alice)
    assert SignInLink.objects.count() == 1


def test_a_link_is_not_posted_from_another_site(alice: User) -> None:
    browser = Client(enforce_csrf_checks=True)
    assert browser.post(link_of(alice)).status_code == 403


def test_a_token_is_cut_out_of_every_log_line(alice: User) -> None:
    link = link_of(alice)
    stderr = next(entry for entry in logging.getLogger().handlers if type(entry) is logging.StreamHandler)
    record = logging.makeLogRecord({"msg": "Forbidden: %s", "args": (link,)})
    assert stderr.filter(record)
    line = stderr.format(record)
    assert "Forbidden: /sign-in/…" in line and link.rsplit("/", 1)[1] not in line


def test_a_link_page_is_not_kept_by_caches(alice: User) -> None:
    assert "no-store" in Client().get(link_of(alice))["Cache-Control"]


def test_a_password_signs_in(alice: User) -> None:
    browser = Client()
    browser.post(reverse("sign-in"), {"username": "alice", "password": "wonderland"})
    assert is_signed_in(browser)


def test_a_wrong_password_says_so(alice: User) -> None:
    answer = Client().post(reverse("sign-in"), {"username": "alice", "password": "rabbit"})
    assert "correct username and password" in answer.content.decode()


ELSEWHERE = (
    "https://evil.example",
    "//evil.example",
    "/\\evil.example",
    "/\t/evil.example",
    "/%09/evil.example",
)


def host_of(location: str) -> str | None:
    """Where a browser goes: it drops tabs and takes a backslash for a slash."""
    seen = location.replace("\t", "").replace("\\", "/")
    return urlsplit(urljoin("http://testserver/sign-in", seen)).hostname


@pytest.mark.parametrize("target", ELSEWHERE)
@pytest.mark.parametrize("is_raw", [True, False])
def test_the_sign_in_page_does_not_redirect_to_other_sites(alice: User, target: str, *, is_raw: bool) -> None:
    browser, fields = Client(), {"username": "alice", "password": "wonderland"}
    address = f"{reverse('sign-in')}?next={target if is_raw else quote(target)}"
    for answer in (
        Client().post(reverse("sign-in"), fields | {"next": target}),
        browser.post(address, fields),
        browser.get(address),
    ):
        assert answer.status_code == 302 and host_of(answer["Location"]) == "testserver"


@pytest.mark.parametrize("by_link", [True, False])
def test_a_sign_in_gives_the_session_another_id(alice: User, *, by_link: bool) -> None:
    """Who planted an id in a browser before must not be signed in by it afterwards."""
    browser = Client()
    browser.session.save()
    planted = browser.cookies[configured.SESSION_COOKIE_NAME].value
    if by_link:
        browser.post(link_of(alice))
    else:
        browser.post(reverse("sign-in"), {"username": "alice", "password": "wonderland"})
    assert is_signed_in(browser)
    assert browser.session.session_key != planted and not Session.objects.filter(pk=planted).exists()


def test_the_cookie_of_a_sign_in_is_for_our_pages_only(alice: User) -> None:
    browser = Client()
    browser.post(link_of(alice))
    cookie = browser.cookies[configured.SESSION_COOKIE_NAME]
    assert (cookie["httponly"], cookie["samesite"], cookie["path"]) == (True, "Lax", "/")


def test_signing_out_ends_the_session(client: Client) -> None:
    assert client.post(reverse("sign-out")).status_code == 302
    assert not is_signed_in(client)


def test_signing_out_needs_a_post(client: Client) -> None:
    assert client.get(reverse("sign-out")).status_code == 405
    assert is_signed_in(client)


def test_the_local_page_names_the_link_command(settings: Settings, db: None) -> None:
    settings.DEBUG = True
    assert "manage.py link" in Client().get(reverse("sign-in")).content.decode()


def test_a_deployed_page_does_not_name_the_link_command(db: None) -> None:
    assert "manage.py link" not in Client().get(reverse("sign-in")).content.decode()
