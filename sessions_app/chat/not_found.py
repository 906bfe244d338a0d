"""The same 404 page in development as in production."""

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.utils.deprecation import MiddlewareMixin
from django.views.defaults import page_not_found


class NotFoundMiddleware(MiddlewareMixin):
    """Replaces Django's technical 404 page, which lists all URL patterns while DEBUG is on."""

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        return page_not_found(request, exception) if isinstance(exception, Http404) else None

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        if response.status_code == 404 and request.resolver_match is None:
            return page_not_found(request, Http404())
        return response
