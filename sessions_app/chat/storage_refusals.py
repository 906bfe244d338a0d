"""507 when the server's disk is full or its storage takes no changes, 503 when its database is away."""

import structlog
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils.deprecation import MiddlewareMixin

from sessions_app.errors import StorageFull
from sessions_app.storage_errors import is_temporary, refusal_of

INSUFFICIENT_STORAGE, UNAVAILABLE = 507, 503
"""RFC 4918 has 507 for whatever keeps a server from storing, and calls it temporary."""

RETRY_SECONDS = 5
"""What Retry-After says while the database is away or locked."""

log = structlog.get_logger("pipeweb.health")


class StorageRefusalsMiddleware(MiddlewareMixin):
    """Says so on a page, or as JSON to a script, like the 409 of `history_views.conflict_response`.

    Of a database that is away or locked a page tells that needs no database.
    """

    def process_request(self, request: HttpRequest) -> HttpResponse | None:
        """It was found before the body was read (`pipeweb.bodies`) or meanwhile."""
        refused = getattr(request, "scope", {}).get("refused")
        return self.process_exception(request, refused) if refused else None

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        error = refusal_of(exception)
        if error is None:
            return _away(exception) if is_temporary(exception) else None
        event = "storage_full" if isinstance(error, StorageFull) else "storage_read_only"
        log.warning(event, kind=type(exception).__name__)
        told = {"message": error.message, "hint": error.hint}
        # Browsers send "navigate" for pages and forms.
        if request.headers.get("Sec-Fetch-Mode", "navigate") != "navigate":
            return JsonResponse(told, status=INSUFFICIENT_STORAGE)
        return render(request, "507.html", told, status=INSUFFICIENT_STORAGE)


def _away(exception: Exception) -> HttpResponse:
    log.warning("database_away", kind=type(exception).__name__)
    page = render_to_string("503.html")
    return HttpResponse(page, status=UNAVAILABLE, headers={"Retry-After": str(RETRY_SECONDS)})
