"""The time zone of a request, from a cookie that the browser sets."""

from collections.abc import Callable
from functools import cache
from zoneinfo import ZoneInfo, available_timezones

from django.http import HttpRequest, HttpResponse
from django.utils import timezone

COOKIE = "pipeweb_zone"


@cache
def zone_names() -> frozenset[str]:
    """All IANA names; cached because listing them reads a directory tree."""
    return frozenset(available_timezones())


def zone_of(request: HttpRequest) -> str:
    """A valid name; UTC without a valid cookie."""
    name = request.COOKIES.get(COOKIE, "")
    return name if name in zone_names() else "UTC"


def time_zone_middleware(
    answer: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    """Activate the time zone of the person for the request."""

    def respond(request: HttpRequest) -> HttpResponse:
        with timezone.override(ZoneInfo(zone_of(request))):
            return answer(request)

    return respond
