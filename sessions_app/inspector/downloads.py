"""The bytes themselves, as files."""

import json
from typing import Any
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_GET

from sessions_app.inspector.archives import bundle, har
from sessions_app.inspector.lookup import exchange_or_404, nth_or_404
from sessions_app.inspector.programs import programs_of, request_name
from sessions_app.inspector.tabs.renditions import renditions_of
from sessions_app.inspector.tabs.wire import response_name

JSON = "application/json"


@login_required
@require_GET
def request_body(request: HttpRequest, public: UUID, number: int) -> HttpResponse:
    """The request body as it travelled, byte for byte."""
    exchange = exchange_or_404(request, public, number)
    return _file(exchange.sent_body(), JSON, request_name(exchange))


@login_required
@require_GET
def rendition(request: HttpRequest, public: UUID, number: int, index: int) -> HttpResponse:
    """One rendition of the request, indented; its text is what the page's copy button copies."""
    exchange = exchange_or_404(request, public, number)
    found = nth_or_404(renditions_of(exchange), index)
    body = json.dumps(json.loads(found.write()), ensure_ascii=False, indent=2).encode("utf-8", "replace")
    return _file(body, JSON, f"exchange-{number}-rendition-{index}.json")


@login_required
@require_GET
def response_chunks(request: HttpRequest, public: UUID, number: int) -> HttpResponse:
    """Every chunk exactly as received, each followed by one line feed."""
    exchange = exchange_or_404(request, public, number)
    bodies = exchange.chunks.values_list("body", flat=True)
    return _file(
        b"".join(bytes(body) + b"\n" for body in bodies), "application/x-ndjson", response_name(exchange)
    )


@login_required
@require_GET
def program(request: HttpRequest, public: UUID, number: int, name: str) -> HttpResponse:
    """The request as a program; what the page copies and what it offers as a file."""
    exchange = exchange_or_404(request, public, number)
    found = next((one for one in programs_of(exchange) if one.id == name), None)
    if found is None:
        raise Http404
    text = found.write(exchange, exchange.sent_body())
    return _file(
        text.encode("utf-8", "replace"), "text/plain; charset=utf-8", f"exchange-{number}.{found.file}"
    )


@login_required
@require_GET
def har_file(request: HttpRequest, public: UUID, number: int) -> HttpResponse:
    return _json(har(exchange_or_404(request, public, number)), f"exchange-{number}.har")


@login_required
@require_GET
def bundle_file(request: HttpRequest, public: UUID, number: int) -> HttpResponse:
    return _json(bundle(exchange_or_404(request, public, number)), f"exchange-{number}.json")


def _json(value: dict[str, Any], name: str) -> HttpResponse:
    body = json.dumps(value, ensure_ascii=False, indent=1).encode("utf-8", "replace")
    return _file(body, JSON, name)


def _file(body: bytes, content_type: str, name: str) -> HttpResponse:
    headers = {"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "private, no-store"}
    return HttpResponse(body, content_type=content_type, headers=headers)
