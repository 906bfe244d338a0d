"""The page for an address that leads nowhere: the same words while developing as in production."""

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.utils.deprecation import MiddlewareMixin
from django.views.defaults import page_not_found


class Nowhere(MiddlewareMixin):
    """Django would list all addresses instead, as long as DEBUG is on; a person must not meet that."""

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        return page_not_found(request, exception) if isinstance(exception, Http404) else None

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        if response.status_code == 404 and request.resolver_match is None:
            return page_not_found(request, Http404())
        return response
