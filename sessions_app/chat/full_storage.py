"""507 when the server's disk is full."""

import structlog
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils.deprecation import MiddlewareMixin

from sessions_app.errors import StorageFull
from sessions_app.storage_errors import is_full

INSUFFICIENT_STORAGE = 507

log = structlog.get_logger("pipeweb.health")


class FullStorageMiddleware(MiddlewareMixin):
    """Says so on a page, or as JSON to a script, like the 409 of `history_views.conflict_response`."""

    def process_request(self, request: HttpRequest) -> HttpResponse | None:
        """It was found before the body was read (`pipeweb.bodies`) or meanwhile."""
        refused = getattr(request, "scope", {}).get("refused")
        return self.process_exception(request, refused) if refused else None

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        if not (isinstance(exception, StorageFull) or is_full(exception)):
            return None
        log.warning("storage_full", kind=type(exception).__name__)
        error = StorageFull()
        told = {"message": error.message, "hint": error.hint}
        # Browsers send "navigate" for pages and forms.
        if request.headers.get("Sec-Fetch-Mode", "navigate") != "navigate":
            return JsonResponse(told, status=INSUFFICIENT_STORAGE)
        return render(request, "507.html", told, status=INSUFFICIENT_STORAGE)
