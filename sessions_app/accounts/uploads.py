"""Who may send a file. Asked before the body is read."""

from io import BytesIO
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user
from django.contrib.sessions.middleware import SessionMiddleware
from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest, HttpResponse
from django.middleware.csrf import CsrfViewMiddleware

from sessions_app.error_codes import BodyRefusal
from sessions_app.errors import BodyRefused


def check_sender(scope: Any) -> int:
    """Returns the primary key of the person. Raises BodyRefused.

    A form without scripts has its CSRF token in the body; Django checks that one when it has arrived.
    """
    request = ASGIRequest(scope, BytesIO())
    SessionMiddleware(_unused).process_request(request)
    user = get_user(request)
    if not user.is_authenticated:
        raise BodyRefused(403, BodyRefusal.SIGNED_OUT)
    if settings.CSRF_HEADER_NAME in request.META and _is_forged(request):
        raise BodyRefused(403, BodyRefusal.FORGED)
    return int(user.pk)


def _is_forged(request: HttpRequest) -> bool:
    middleware = CsrfViewMiddleware(_unused)
    middleware.process_request(request)
    return middleware.process_view(request, _unused, (), {}) is not None


def _unused(request: HttpRequest) -> HttpResponse:
    raise NotImplementedError
