"""What every page says to the browser about itself."""

import pytest
from django.test import Client
from django.urls import reverse


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


@pytest.mark.parametrize("host", ["evil.example", "testserver.evil.example", "testserver:80:80", ""])
@pytest.mark.parametrize("route", ["sign-in", "sessions"])
def test_a_page_answers_to_its_own_names_only(db: None, route: str, host: str) -> None:
    assert Client().get(reverse(route), headers={"Host": host}).status_code == 400
