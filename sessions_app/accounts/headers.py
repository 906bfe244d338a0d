"""What every answer says to the browser beside the headers of Django and of the content security policy."""

from collections.abc import Awaitable, Callable
from typing import Any

from asgiref.sync import iscoroutinefunction
from django.http import HttpRequest, HttpResponse
from django.utils.decorators import sync_and_async_middleware

UNUSED = ("camera", "display-capture", "geolocation", "microphone", "payment", "usb")
"""Abilities of the browser that no page of ours asks for."""

POLICY = ", ".join(f"{name}=()" for name in UNUSED)


@sync_and_async_middleware
def permissions_middleware(get_response: Callable[[HttpRequest], Any]) -> Callable[[HttpRequest], Any]:
    """Sets Permissions-Policy."""
    if iscoroutinefunction(get_response):

        async def middleware(request: HttpRequest) -> HttpResponse:
            following: Callable[[HttpRequest], Awaitable[HttpResponse]] = get_response
            return _with_policy(await following(request))

        return middleware
    return lambda request: _with_policy(get_response(request))


def _with_policy(response: HttpResponse) -> HttpResponse:
    response.headers.setdefault("Permissions-Policy", POLICY)
    return response
