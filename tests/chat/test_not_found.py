"""The 404 page is the same in development and in production."""

import uuid

import pytest
from django.test import Client
from pytest_django import Settings


@pytest.mark.parametrize("debug", [True, False])
@pytest.mark.parametrize("address", [f"/s/{uuid.UUID(int=7)}/", "/nothing/like/this/"])
def test_nothing_is_explained(client: Client, settings: Settings, address: str, debug: bool) -> None:
    settings.DEBUG = debug
    answer = client.get(address)
    page = answer.content.decode()
    assert answer.status_code == 404 and "There is nothing at this address" in page
    assert "urlpatterns" not in page and "URLconf" not in page


def test_a_visitor_who_is_not_signed_in_can_sign_in(db: None) -> None:
    page = Client().get("/nothing/like/this/").content.decode()
    assert "Sign in" in page and "New chat" not in page


def test_a_conversation_is_never_kept_by_the_browser(client: Client) -> None:
    assert "no-store" in client.get("/")["Cache-Control"]
