"""429 where a person has reached a limit: a page for a form, JSON for a script."""

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils.deprecation import MiddlewareMixin

from sessions_app.errors import OverLimit
from sessions_app.wording.refusals import error_texts

RETRY_SECONDS = 60
"""Retry-After where it is not known when there is room again."""


class OverLimitMiddleware(MiddlewareMixin):
    """Answers OverLimit from any view, and from `pipeweb.bodies` before it read the body."""

    def process_request(self, request: HttpRequest) -> HttpResponse | None:
        refused = getattr(request, "scope", {}).get("refused")
        return self.process_exception(request, refused) if refused else None

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        return over_limit_response(request, exception) if isinstance(exception, OverLimit) else None


def over_limit_response(request: HttpRequest, error: OverLimit) -> HttpResponse:
    sentence, hint = error_texts(error)
    response: HttpResponse
    if "text/html" in request.headers.get("Accept", "") and "HX-Request" not in request.headers:
        response = render(request, "429.html", {"sentence": sentence, "hint": hint}, status=429)
    else:
        response = JsonResponse({"message": sentence, "hint": hint}, status=429)
    response.headers["Retry-After"] = str(RETRY_SECONDS if error.seconds is None else error.seconds)
    return response
