"""What every answer says to the browser beside the headers of Django and of the content security policy."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.utils.cache import has_vary_header

UNUSED = ("camera", "display-capture", "geolocation", "microphone", "payment", "usb")
"""Abilities of the browser that no page of ours asks for."""

POLICY = ", ".join(f"{name}=()" for name in UNUSED)

PRIVATE = "private, no-store"
"""With less, browsers keep a page and show it again on “Back”, also after somebody has signed out."""


def headers_middleware(
    get_response: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    """Sets Permissions-Policy, and Cache-Control where a view looked into the session and said nothing of it.

    Stands before the middleware of sessions, which says whether a response varies by the cookie.
    """
    return lambda request: _with_headers(get_response(request))


def _with_headers(response: HttpResponse) -> HttpResponse:
    response.headers.setdefault("Permissions-Policy", POLICY)
    if has_vary_header(response, "Cookie"):
        response.headers.setdefault("Cache-Control", PRIVATE)
    return response
