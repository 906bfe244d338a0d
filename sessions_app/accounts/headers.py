"""What every answer says to the browser beside the headers of Django and of the content security policy."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

UNUSED = ("camera", "display-capture", "geolocation", "microphone", "payment", "usb")
"""Abilities of the browser that no page of ours asks for."""

POLICY = ", ".join(f"{name}=()" for name in UNUSED)


def permissions_middleware(
    get_response: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    """Sets Permissions-Policy."""
    return lambda request: _with_policy(get_response(request))


def _with_policy(response: HttpResponse) -> HttpResponse:
    response.headers.setdefault("Permissions-Policy", POLICY)
    return response
