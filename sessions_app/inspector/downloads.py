"""Downloads of an exchange: bodies, code samples, a HAR archive and a bundle."""

import hashlib
import json
from typing import Any
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_GET

from sessions_app.hosts import UNKNOWN
from sessions_app.inspector.code_samples import code_samples_of, path_of, request_name
from sessions_app.inspector.lookup import exchange_or_404, nth_or_404
from sessions_app.inspector.originals import body_to_send
from sessions_app.inspector.tabs.renditions_tab import renditions_of
from sessions_app.inspector.tabs.wire_tab import response_name
from sessions_app.models import Exchange, RawChunk
from sessions_app.models.answering import host
from sessions_app.prompt.pricing import Money
from sessions_app.wording import break_lines, cache_plans, costs, strategies, verdicts

MIME = "application/json"
SSE = "text/event-stream"


def har(exchange: Exchange) -> dict[str, Any]:
    """HTTP Archive 1.2. Headers are not stored; the archive has the content types only."""
    chunks = list(exchange.chunks.all())
    total, first = exchange.total_ms or 0.0, exchange.first_chunk_ms or 0.0
    entry = {
        "startedDateTime": exchange.started_at.isoformat(),
        "time": total,
        "request": _request(exchange),
        "response": _response(exchange, chunks),
        "cache": {},
        "timings": {"send": 0, "wait": first, "receive": max(0.0, total - first)},
        "comment": f"Exchange {exchange.number}, {host(exchange)}",
    }
    return {"log": {"version": "1.2", "creator": {"name": "Pipeweb", "version": "1"}, "entries": [entry]}}


def _request(exchange: Exchange) -> dict[str, Any]:
    body, path = exchange.sent_body(), path_of(exchange)
    query = [{"name": "alt", "value": "sse"}] if path.endswith("?alt=sse") else []
    return {
        "method": "POST",
        "url": (exchange.base_url or UNKNOWN) + path,
        "httpVersion": "HTTP/1.1",
        "cookies": [],
        "headers": [{"name": "Content-Type", "value": MIME}],
        "queryString": query,
        "postData": {"mimeType": MIME, "text": body.decode("utf-8", "replace")},
        "headersSize": -1,
        "bodySize": len(body),
    }


def _response(exchange: Exchange, chunks: list[RawChunk]) -> dict[str, Any]:
    """Status 0 means in HAR that no response was received."""
    text = "".join(f"data: {bytes(chunk.body).decode('utf-8', 'replace')}\r\n\r\n" for chunk in chunks)
    code = exchange.error.get("code")
    status = code if isinstance(code, int) else 200 if chunks else 0
    return {
        "status": status,
        "statusText": "",
        "httpVersion": "HTTP/1.1",
        "cookies": [],
        "headers": [{"name": "Content-Type", "value": SSE}],
        "content": {"size": len(text.encode()), "mimeType": SSE, "text": text},
        "redirectURL": "",
        "headersSize": -1,
        "bodySize": -1,
    }


NOT_BUNDLED = {
    *("id", "public", "manifest", "layer_tokens", "thought_ms"),
    *("request_sha256", "sent_sha256", "request_size"),
}
"""Columns that the bundle leaves out, besides relations; it has the request in full."""


def bundle(exchange: Exchange) -> dict[str, Any]:
    """The row, the items with their hashes, the request as text and each chunk as text."""
    body = exchange.sent_body()
    return {
        "pipeweb": 1,
        "exchange": _columns(exchange),
        "sentences": _sentences(exchange),
        "items": _items(exchange),
        "request": {
            "sha256": hashlib.sha256(body).hexdigest(),
            "noted_sha256": exchange.recorded_sha256,
            "body": body.decode("utf-8", "replace"),
        },
        "chunks": [
            {"seq": chunk.seq, "ms": chunk.ms, "body": bytes(chunk.body).decode("utf-8", "replace")}
            for chunk in exchange.chunks.all()
        ],
    }


def _sentences(exchange: Exchange) -> dict[str, str]:
    """The texts that the pages show for the stored codes and figures."""
    broken = exchange.found_break
    return {
        "verdict": verdicts.sentence(exchange.found_verdict, exchange.earlier("verdict")),
        "cache_plan": cache_plans.reason(exchange.cache_plan, exchange.earlier("cache_plan")),
        "strategy": strategies.sentence(exchange.strategy, exchange.earlier("strategy")),
        "break_line": f"{break_lines.place(broken)}: {break_lines.change(broken)}." if broken else "",
        "loss": break_lines.loss(exchange.loss) if exchange.verdict else "",
        "money": costs.equation(Money.restored(exchange.money)),
    }


def _columns(exchange: Exchange) -> dict[str, Any]:
    """Column → value as JSON; decimals and times as text, since a float would round money."""
    fields = (field for field in exchange._meta.concrete_fields if not field.is_relation)
    values = {field.name: getattr(exchange, field.name) for field in fields if field.name not in NOT_BUNDLED}
    is_json = (str, int, float, list, dict, type(None))
    return {name: value if isinstance(value, is_json) else str(value) for name, value in values.items()}


def _items(exchange: Exchange) -> list[dict[str, Any]]:
    return [
        {
            "layer": item.layer.value,
            "source": item.source.name,
            "role": item.source.role,
            "kind": item.source.kind,
            "tokens": item.source.tokens,
            "sha256": item.source.blob.sha256,
            "bytes": len(item.wire),
            "cached": item.is_cached,
            "content": item.content,
            "part": item.part,
        }
        for item in exchange.sent_items()
    ]


@login_required
@require_GET
def request_body(request: HttpRequest, public: UUID, number: int) -> HttpResponse:
    """The request body as it travelled, byte for byte."""
    exchange = exchange_or_404(request, public, number)
    return _file(exchange.sent_body(), MIME, request_name(exchange))


@login_required
@require_GET
def rendition(request: HttpRequest, public: UUID, number: int, index: int) -> HttpResponse:
    """One rendition of the request, indented; also what the page's copy button copies."""
    exchange = exchange_or_404(request, public, number)
    found = nth_or_404(renditions_of(exchange), index)
    body = json.dumps(json.loads(found.write()), ensure_ascii=False, indent=2).encode("utf-8", "replace")
    return _file(body, MIME, f"exchange-{number}-rendition-{index}.json")


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
    """One code sample; also what the page's copy button copies.

    It has what a named cache held inline, or with `body=sent` the name of the cache as it was sent.
    """
    exchange = exchange_or_404(request, public, number)
    found = next((one for one in code_samples_of(exchange) if one.id == name), None)
    if found is None:
        raise Http404
    text = found.write(exchange, body_to_send(exchange, as_sent=request.GET.get("body") == "sent"))
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
    return _file(body, MIME, name)


def _file(body: bytes, content_type: str, name: str) -> HttpResponse:
    headers = {"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "private, no-store"}
    return HttpResponse(body, content_type=content_type, headers=headers)
