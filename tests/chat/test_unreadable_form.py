"""A form that cannot be read gets a page in plain words, in development as in production."""

import pytest
from django.conf import settings as configured
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import Settings

FORM = "application/x-www-form-urlencoded"

too_many = "&".join(f"field{number}=1" for number in range(configured.DATA_UPLOAD_MAX_NUMBER_FIELDS + 1))


@pytest.fixture(params=[True, False], ids=["csrf", "no csrf"])
def browser(alice: User, request: pytest.FixtureRequest) -> Client:
    client = Client(enforce_csrf_checks=request.param)
    client.force_login(alice)
    return client


@pytest.mark.parametrize("debug", [True, False])
@pytest.mark.parametrize(("kind", "body"), [(FORM, too_many), ("multipart/form-data", "x")])
def test_it_says_so_and_shows_no_source(
    browser: Client, settings: Settings, kind: str, body: str, debug: bool
) -> None:
    settings.DEBUG = debug
    answer = browser.post("/sessions/act/", body, content_type=kind)
    page = answer.content.decode()
    assert answer.status_code == 400 and "The form was not read" in page
    assert "Traceback" not in page and "New chat" in page


def test_a_form_of_many_fields_is_read(client: Client) -> None:
    body = "&".join(f"field{number}=1" for number in range(configured.DATA_UPLOAD_MAX_NUMBER_FIELDS))
    answer = client.post("/sessions/act/", body, content_type=FORM)
    assert "The form was not read" not in answer.content.decode()
