"""The bytes themselves, as files."""

import json
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_GET

from sessions_app.inspector.lookup import exchange_or_404, nth_or_404
from sessions_app.inspector.tabs.renditions import renditions_of
from sessions_app.inspector.tabs.wire import request_name, response_name


@login_required
@require_GET
def request_body(request: HttpRequest, public: UUID, number: int) -> HttpResponse:
    """The request body as it travelled, byte for byte."""
    exchange = exchange_or_404(request, public, number)
    return _file(exchange.sent_body(), "application/json", request_name(exchange))


@login_required
@require_GET
def rendition(request: HttpRequest, public: UUID, number: int, index: int) -> HttpResponse:
    """One rendition of the request, indented; its text is what the page's copy button copies."""
    exchange = exchange_or_404(request, public, number)
    found = nth_or_404(renditions_of(exchange), index)
    body = json.dumps(json.loads(found.write()), ensure_ascii=False, indent=2).encode("utf-8", "replace")
    return _file(body, "application/json", f"exchange-{number}-rendition-{index}.json")


@login_required
@require_GET
def response_chunks(request: HttpRequest, public: UUID, number: int) -> HttpResponse:
    """Every chunk exactly as received, each followed by one line feed."""
    exchange = exchange_or_404(request, public, number)
    bodies = exchange.chunks.values_list("body", flat=True)
    return _file(
        b"".join(bytes(body) + b"\n" for body in bodies), "application/x-ndjson", response_name(exchange)
    )


def _file(body: bytes, content_type: str, name: str) -> HttpResponse:
    headers = {"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "private, no-store"}
    return HttpResponse(body, content_type=content_type, headers=headers)
