"""What a link opens, for whoever has it: no account, no script, nothing kept by browsers or proxies."""

from collections.abc import Callable
from functools import lru_cache, wraps
from math import ceil
from typing import Any

from csp.constants import NONE, SELF
from csp.decorators import csp
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.template.loader import render_to_string
from django.urls import reverse
from django.views.decorators.http import require_safe

from sessions_app.chat.attachment_views import file_response
from sessions_app.context.personal_limits import limits_of
from sessions_app.fairness import Rate
from sessions_app.models import SharedLink
from sessions_app.sharing.shown import shown_copy
from sessions_app.sharing.snapshot import Snapshot

HEADERS = {
    "Cache-Control": "private, no-store",
    "Referrer-Policy": "no-referrer",
    "X-Robots-Tag": "noindex, nofollow, noarchive",
    "X-Content-Type-Options": "nosniff",
}
"""A revoked link is closed at once, and the address of one is told to nobody."""

POLICY = {
    "default-src": [NONE],
    "style-src": [SELF],
    "img-src": [SELF],
    "media-src": [SELF],
    "base-uri": [NONE],
    "form-action": [NONE],
    "frame-ancestors": [NONE],
}

BURST, PER_SECOND = 60, 10.0
"""Requests for one link, its files included, to one process."""

View = Callable[..., HttpResponse]


@lru_cache(maxsize=1_000)
def _rate_of(link: int) -> Rate:
    return Rate(BURST, PER_SECOND)


def public(view: Callable[..., HttpResponse]) -> View:
    """Passes the link of the token to the view. Raises Http404 for any that is not readable (any more)."""

    @wraps(view)
    def respond(request: HttpRequest, token: str, **arguments: Any) -> HttpResponse:
        rows = SharedLink.objects.readable().select_related("session", "content")
        link = get_object_or_404(rows, token=token)
        if not limits_of(link.session.owner_id).shared_links:
            raise Http404
        rate = _rate_of(link.pk)
        delay = rate.delay()
        if delay:
            response = HttpResponse(render_to_string("sharing/busy.html"), status=429)
            response["Retry-After"] = str(ceil(delay))
        else:
            rate.take()
            response = view(request, link, **arguments)
        for name, value in HEADERS.items():
            response[name] = value
        return response

    return respond


@require_safe
@csp(POLICY)
@public
def shared(request: HttpRequest, link: SharedLink) -> HttpResponse:
    stored = link.content.bytes
    snapshot = Snapshot.model_validate_json(stored)
    numbers = link.files.values_list("number", flat=True)
    addresses = tuple(reverse("shared-file", args=[link.token, number]) for number in numbers)
    # Without the request: neither its session nor its person has a part in the page.
    page = render_to_string(
        "sharing/page.html",
        {
            "title": snapshot.title,
            "rendered": shown_copy(stored, addresses),
            "created_at": link.created_at,
            "expires_at": link.expires_at,
        },
    )
    return HttpResponse(page)


@require_safe
@public
def shared_file(request: HttpRequest, link: SharedLink, number: int) -> HttpResponse:
    row = get_object_or_404(link.files.select_related("blob"), number=number)
    return file_response(row.blob.bytes, row.mime, row.name)
