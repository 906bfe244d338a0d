"""Makes the request that is being answered known to the audit log."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

from sessions_app.models.audit_entry import request_now


def acting_middleware(
    get_response: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    def respond(request: HttpRequest) -> HttpResponse:
        token = request_now.set(request)
        try:
            return get_response(request)
        finally:
            request_now.reset(token)

    return respond
