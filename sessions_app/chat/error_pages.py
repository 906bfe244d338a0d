"""Pages in place of Django's own, in development as in production."""

from enum import StrEnum

from django.core.exceptions import BadRequest, SuspiciousOperation
from django.http import HttpRequest, HttpResponse
from django.middleware.csrf import REASON_BAD_ORIGIN, REASON_NO_CSRF_COOKIE
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils.safestring import SafeString, mark_safe
from django.views.debug import ExceptionReporter


class CsrfReason(StrEnum):
    """Why a form was not accepted. `EXPIRED`: its token is not of this sign-in, or it has none."""

    COOKIE = "cookie"
    ORIGIN = "origin"
    EXPIRED = "expired"


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    shown = {"reason": _csrf_reason(reason).value}
    return render(request, "403_csrf.html", shown, status=403)


def _csrf_reason(reason: str) -> CsrfReason:
    if reason == REASON_NO_CSRF_COOKIE:
        return CsrfReason.COOKIE
    if reason.startswith((REASON_BAD_ORIGIN.partition("%s")[0], "Referer checking failed")):
        return CsrfReason.ORIGIN
    return CsrfReason.EXPIRED


class PageReporter(ExceptionReporter):
    """While DEBUG is on, which it is in local use, Django shows source code and settings.

    What people see is the page of a deployment; the traceback is in the log. It needs neither the request
    nor the database, since either may be what failed.
    """

    def get_traceback_html(self) -> SafeString:
        is_bad_request = isinstance(self.exc_value, SuspiciousOperation | BadRequest)
        return render_to_string("400.html" if is_bad_request else "500.html")

    def get_traceback_text(self) -> SafeString:
        return mark_safe("The request failed; the reason is in the server's log.\n")
