"""The page about the API key."""

import pytest
from django.contrib.auth.models import User
from django.test import Client, override_settings

PAGE = "/key"
NOWHERE = override_settings(GOOGLE_GEMINI_BASE_URL="http://127.0.0.1:9")


@pytest.fixture
def staff(alice: User, client: Client) -> Client:
    User.objects.filter(pk=alice.pk).update(is_staff=True)
    return client


def test_staff_are_told_how_to_set_a_key(staff: Client) -> None:
    page = staff.get(PAGE)
    assert page.status_code == 200
    assert "GEMINI_API_KEY" in page.content.decode()
    assert "no-store" in page["Cache-Control"]


@NOWHERE
def test_a_key_that_is_tested_comes_back_nowhere(staff: Client) -> None:
    page = staff.post(PAGE, {"key": "not-a-real-key-0123456789"})
    assert page.status_code == 422
    assert 'data-result="unreachable"' in page.content.decode()
    assert "not-a-real-key" not in page.content.decode()


def test_an_empty_form_is_a_malformed_key(staff: Client) -> None:
    assert 'data-result="malformed"' in staff.post(PAGE).content.decode()


def test_other_people_cannot_make_the_server_call(client: Client) -> None:
    assert client.post(PAGE, {"key": "x"}).status_code == 403
    assert "password" not in client.get(PAGE).content.decode()


def test_strangers_are_sent_to_the_door(db: None) -> None:
    assert Client().get(PAGE).status_code == 302
