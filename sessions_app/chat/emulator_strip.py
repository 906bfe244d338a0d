"""The strip that says that the emulator answers, until a person closes it."""

from datetime import timedelta
from typing import Any

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST

CLOSED = "closed"
KEPT = timedelta(days=365)


def wants_strip(request: HttpRequest) -> bool:
    """Pages of errors may be made before the person is known."""
    user = getattr(request, "user", None)
    return bool(user and user.is_authenticated) and request.COOKIES.get(_cookie(user)) != CLOSED


def _cookie(user: Any) -> str:
    """The cookie of one person in this browser; it outlives a sign-out."""
    return f"pipeweb_strip_{user.pk}"


@login_required
@require_POST
def close_strip(request: HttpRequest) -> HttpResponse:
    """Back to the page, or nothing for a script that removes the strip itself."""
    back = request.POST.get("next", "")
    is_own = url_has_allowed_host_and_scheme(back, {request.get_host()}, require_https=request.is_secure())
    response = HttpResponse() if request.headers.get("HX-Request") else redirect(back if is_own else "home")
    response.set_cookie(
        _cookie(request.user),
        CLOSED,
        max_age=KEPT,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )
    return response
