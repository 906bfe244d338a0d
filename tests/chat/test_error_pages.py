"""Pages of errors look like ours, in development as in production, and say what to do."""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import SuspiciousOperation
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.test import Client, RequestFactory
from django.views.debug import technical_500_response
from pytest_django import Settings

from sessions_app.chat import views

BRAND = 'class="brand"'


@pytest.fixture(params=[True, False], ids=["debug", "deployed"])
def mode(request: pytest.FixtureRequest, settings: Settings) -> None:
    settings.DEBUG = request.param


@pytest.fixture
def breaking(monkeypatch: pytest.MonkeyPatch) -> Callable[[Exception], None]:
    """Lets the pages of the chat raise."""

    def install(error: Exception) -> None:
        def broken(*args: object, **kwargs: object) -> HttpResponse:
            raise error

        monkeypatch.setattr(views, "render", broken)

    return install


@pytest.mark.parametrize("name", ["400.html", "403.html", "403_csrf.html", "500.html"])
def test_they_wear_the_layout_without_a_request_and_a_database(name: str) -> None:
    page = render_to_string(name)
    assert BRAND in page and "bundles/main.css" in page and "<h1>" in page and 'href="/"' in page


@pytest.mark.parametrize(
    ("headers", "reason"),
    [
        ({}, "cookie"),
        ({"HTTP_ORIGIN": "https://elsewhere.invalid"}, "origin"),
    ],
)
def test_a_form_that_is_not_ours_is_explained(
    alice: User, mode: None, headers: dict[str, str], reason: str
) -> None:
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(alice)
    answer = browser.post("/sessions/act/", **headers)  # type: ignore[arg-type]
    page = answer.content.decode()
    assert answer.status_code == 403 and BRAND in page and f'data-reason="{reason}"' in page


def test_a_form_of_an_earlier_sign_in_is_explained(alice: User, mode: None) -> None:
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(alice)
    browser.get("/")
    answer = browser.post("/sessions/act/", {"csrfmiddlewaretoken": "x" * 64})
    assert answer.status_code == 403 and 'data-reason="expired"' in answer.content.decode()


def test_what_only_administrators_may_is_explained(client: Client, mode: None) -> None:
    answer = client.post("/key", {"key": "x"})
    page = answer.content.decode()
    assert answer.status_code == 403 and BRAND in page and "administrators" in page


@pytest.mark.parametrize(
    ("error", "status", "heading"),
    [
        (RuntimeError("a secret detail"), 500, "Something went wrong on our side"),
        (SuspiciousOperation("a secret detail"), 400, "The request was not understood"),
    ],
)
@pytest.mark.usefixtures("mode")
def test_an_error_shows_no_source(
    client: Client,
    breaking: Callable[[Exception], None],
    error: Exception,
    status: int,
    heading: str,
) -> None:
    breaking(error)
    client.raise_request_exception = False
    answer = client.get("/", headers={"Accept": "text/html"})
    page = answer.content.decode()
    assert answer.status_code == status and heading in page and BRAND in page
    assert "a secret detail" not in page and "Traceback" not in page


def test_a_program_reads_no_source_either(settings: Settings) -> None:
    request: HttpRequest = RequestFactory().get("/", headers={"Accept": "application/json"})
    try:
        raise RuntimeError("a secret detail")
    except RuntimeError as error:
        answer = technical_500_response(request, type(error), error, error.__traceback__)
    assert answer.status_code == 500 and b"a secret detail" not in answer.content
