"""Times as the person's clock shows them: the browser says its zone once, in a cookie."""

from collections.abc import Callable
from functools import cache
from zoneinfo import ZoneInfo, available_timezones

from django.http import HttpRequest, HttpResponse
from django.utils import timezone

COOKIE = "pipeweb_zone"


@cache
def zones() -> frozenset[str]:
    """Every name that exists. Looking for them reads a folder tree, which no request should pay for."""
    return frozenset(available_timezones())


def zone_of(request: HttpRequest) -> str:
    """A name that exists; UTC while the browser has said nothing."""
    name = request.COOKIES.get(COOKIE, "")
    return name if name in zones() else "UTC"


def in_zone(answer: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Middleware: what is rendered for this request shows times in the person's zone."""

    def respond(request: HttpRequest) -> HttpResponse:
        with timezone.override(ZoneInfo(zone_of(request))):
            return answer(request)

    return respond
