"""400 when the fields of a form cannot be read."""

from http import HTTPStatus

from django.core.exceptions import SuspiciousOperation
from django.http import HttpRequest, HttpResponse
from django.http.multipartparser import MultiPartParserError
from django.shortcuts import render
from django.utils.deprecation import MiddlewareMixin


class UnreadableFormMiddleware(MiddlewareMixin):
    """Reads a form before views and CsrfViewMiddleware.process_view do.

    What they raise Django answers with a page that knows nothing of forms.
    """

    def process_request(self, request: HttpRequest) -> HttpResponse | None:
        if request.method != "POST":
            return None
        try:
            request.POST  # noqa: B018
        except (SuspiciousOperation, MultiPartParserError):
            return render(request, "unreadable_form.html", status=HTTPStatus.BAD_REQUEST)
        return None
