"""What every page says to the browser about itself."""

import pytest
from django.conf import settings
from django.test import Client, override_settings
from django.urls import reverse

from sessions_app.accounts.headers import UNUSED


@pytest.fixture
def headers(db: None) -> dict[str, str]:
    return dict(Client().get(reverse("sign-in")).items())


def test_the_policy_allows_nothing_inline(headers: dict[str, str]) -> None:
    policy = headers["Content-Security-Policy"]
    assert "unsafe" not in policy
    assert "default-src 'self'" in policy and "script-src 'self'" in policy and "object-src 'none'" in policy


def test_no_other_site_can_frame_a_page(headers: dict[str, str]) -> None:
    assert headers["X-Frame-Options"] == "DENY"
    assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]


def test_other_sites_do_not_learn_addresses(headers: dict[str, str]) -> None:
    assert headers["Referrer-Policy"] == "same-origin"
    assert headers["X-Content-Type-Options"] == "nosniff"


def test_no_page_may_use_what_none_needs(headers: dict[str, str]) -> None:
    named = dict(one.split("=") for one in headers["Permissions-Policy"].split(", "))
    assert named == dict.fromkeys(UNUSED, "()") and {"camera", "microphone", "geolocation"} <= named.keys()


@override_settings(SECURE_HSTS_SECONDS=31_536_000)
def test_only_an_answer_over_https_binds_the_browser_to_it(db: None) -> None:
    place = reverse("sign-in")
    assert "Strict-Transport-Security" not in Client().get(place)
    assert Client().get(place, secure=True)["Strict-Transport-Security"] == "max-age=31536000"


def test_a_local_installation_binds_no_browser_to_https() -> None:
    assert settings.DEBUG or settings.SECURE_HSTS_SECONDS == 0


@pytest.mark.parametrize("host", ["evil.example", "testserver.evil.example", "testserver:80:80", ""])
@pytest.mark.parametrize("route", ["sign-in", "sessions"])
def test_a_page_answers_to_its_own_names_only(db: None, route: str, host: str) -> None:
    assert Client().get(reverse(route), headers={"Host": host}).status_code == 400
