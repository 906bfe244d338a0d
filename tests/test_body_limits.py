"""One table of limits: the routes, Django, the pages and nginx say the same."""

import re

import pytest
from django.conf import settings
from django.test import Client
from django.urls import resolve, reverse

from sessions_app.body_limits import FILE_LIMITS, FORM_LIMIT, body_limit
from tests.conftest import ROOT

NGINX = (ROOT / "sessions_app" / "deployment" / "nginx.conf").read_text(encoding="utf-8")
PUBLIC = "6a0c0c35-5e8a-4dbb-a3bb-4ce4c7d2f8d5"
LOCATION = re.compile(r"location (=|~) (\S+) \{\s*client_max_body_size (\d+);")


def path_of(route: str) -> str:
    return reverse(route, args=[] if route in ("har", "import") else [PUBLIC])


def nginx_limit(path: str) -> int:
    """What nginx allows for a path."""
    for kind, wanted, limit in LOCATION.findall(NGINX):
        if path == wanted if kind == "=" else re.search(wanted, path):
            return int(limit)
    server = re.search(r"^    client_max_body_size (\d+);", NGINX, re.M)
    assert server
    return int(server[1])


@pytest.mark.parametrize("route", FILE_LIMITS)
def test_nginx_allows_what_the_route_allows(route: str) -> None:
    assert resolve(path_of(route)).url_name == route
    assert nginx_limit(path_of(route)) == body_limit(route) > FILE_LIMITS[route]


def test_every_other_route_takes_a_form() -> None:
    assert len(LOCATION.findall(NGINX)) == len(FILE_LIMITS)
    for route in ("session", "attachments", "session-settings", "panels"):
        assert nginx_limit(path_of(route)) == body_limit(route) == FORM_LIMIT
    assert nginx_limit("/sessions/import/x") == body_limit("") == FORM_LIMIT
    assert settings.DATA_UPLOAD_MAX_MEMORY_SIZE == FORM_LIMIT


def test_a_page_knows_the_limits(client: Client) -> None:
    page = client.get("/").content.decode()
    for route, limit in FILE_LIMITS.items():
        assert f'data-{route}="{limit}"' in page


def test_every_route_that_takes_a_file_is_in_the_table() -> None:
    """A form with a file posts to a route of the table, and its field names that route."""
    forms = [
        text
        for path in (ROOT / "templates").rglob("*.html")
        for text in re.findall(r"<form[^>]*multipart.*?</form>", path.read_text(encoding="utf-8"), re.S)
    ]
    routes = {
        (re.findall(r"\{% url '([\w-]+)'", text)[0], *re.findall(r'data-limit-of="(\w+)"', text))
        for text in forms
    }
    assert routes == {(route, route) for route in FILE_LIMITS if route != "attach"}


def test_only_routes_of_the_table_read_files() -> None:
    found = {
        path.name
        for path in (ROOT / "sessions_app").rglob("*.py")
        if "request.FILES" in path.read_text(encoding="utf-8")
    }
    assert found == {"attachment_views.py", "har_views.py", "import_views.py", "file_views.py"}
