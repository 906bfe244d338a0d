"""Downloads of an exchange: bodies, code samples, a HAR archive and a bundle."""

import hashlib
import json
from collections.abc import Collection
from typing import Any
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from sessions_app.exchange_sums import equation_of
from sessions_app.inspector.attempts import attempts_of
from sessions_app.inspector.chunk_times import has_times
from sessions_app.inspector.code_samples import code_samples_of, request_name
from sessions_app.inspector.har import MIME, har
from sessions_app.inspector.lookup import kept_exchange_or_404, nth_or_404
from sessions_app.inspector.originals import body_to_send
from sessions_app.inspector.tabs.renditions_tab import renditions_of
from sessions_app.inspector.tabs.wire_tab import response_name
from sessions_app.models import Exchange, ExchangeAttempt
from sessions_app.prompt.prefix_diff import BreakLine
from sessions_app.wording import break_lines, cache_plans, strategies, verdicts

NOT_BUNDLED = {
    *("id", "public", "manifest", "layer_tokens", "thought_ms"),
    *("request_sha256", "sent_sha256", "request_size"),
}
"""Columns that the bundle leaves out, besides relations; it has the request in full."""


def bundle(exchange: Exchange) -> dict[str, Any]:
    """The row, the items with their hashes, the request as text, each chunk as text, each HTTP attempt."""
    body, is_timed = exchange.sent_body(), has_times(exchange)
    return {
        "pipeweb": 1,
        "exchange": _values(exchange, NOT_BUNDLED),
        "sentences": _sentences(exchange),
        "items": _items(exchange),
        "request": {
            "sha256": hashlib.sha256(body).hexdigest(),
            "noted_sha256": exchange.recorded_sha256,
            "body": body.decode("utf-8", "replace"),
        },
        "chunks": [
            {
                "seq": chunk.seq,
                "ms": chunk.ms if is_timed else None,
                "body": bytes(chunk.body).decode("utf-8", "replace"),
            }
            for chunk in exchange.chunks.all()
        ],
        "attempts": [_attempt(one) for of, one in attempts_of(exchange) if one and of.pk == exchange.pk],
    }


def _attempt(attempt: ExchangeAttempt) -> dict[str, Any]:
    body = attempt.body.bytes.decode("utf-8", "replace") if attempt.body else ""
    return _values(attempt, {"id"}) | {"body": body}


def _sentences(exchange: Exchange) -> dict[str, str]:
    """The texts that the pages show for the stored codes and figures."""
    broken = exchange.found_break
    return {
        "verdict": verdicts.sentence(
            exchange.found_verdict, exchange.earlier("verdict"), is_captured=exchange.is_captured
        ),
        "cache_plan": cache_plans.reason(exchange.cache_plan, exchange.earlier("cache_plan")),
        "strategy": strategies.sentence(exchange.strategy, exchange.earlier("strategy")),
        "break_line": f"{break_lines.place(broken)}: {_happened(exchange, broken)}." if broken else "",
        "loss": break_lines.loss(exchange.loss) if exchange.verdict else "",
        "money": equation_of(exchange),
    }


def _happened(exchange: Exchange, broken: BreakLine) -> str:
    """A roll-over is no edit of the static template, where its place is."""
    verdict = exchange.found_verdict
    seen = verdict.seen if verdict else None
    return verdicts.happened(seen) if seen and seen.rolled else break_lines.change(broken)


def _values(row: Exchange | ExchangeAttempt, left_out: Collection[str]) -> dict[str, Any]:
    """Column → value as JSON; decimals and times as text, since a float would round money."""
    fields = (field for field in row._meta.concrete_fields if not field.is_relation)
    values = {field.name: getattr(row, field.name) for field in fields if field.name not in left_out}
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
@require_safe
def request_body(request: HttpRequest, public: UUID, number: int) -> HttpResponse:
    """The request body as it travelled, byte for byte."""
    exchange = kept_exchange_or_404(request, public, number)
    return _file(exchange.sent_body(), MIME, request_name(exchange))


@login_required
@require_safe
def rendition(request: HttpRequest, public: UUID, number: int, index: int) -> HttpResponse:
    """One rendition of the request, indented; also what the page's copy button copies."""
    exchange = kept_exchange_or_404(request, public, number)
    found = nth_or_404(renditions_of(exchange), index)
    body = json.dumps(json.loads(found.write()), ensure_ascii=False, indent=2).encode("utf-8", "replace")
    return _file(body, MIME, f"exchange-{number}-rendition-{index}.json")


@login_required
@require_safe
def response_chunks(request: HttpRequest, public: UUID, number: int) -> HttpResponse:
    """Every chunk exactly as received, each followed by one line feed."""
    exchange = kept_exchange_or_404(request, public, number)
    bodies = exchange.chunks.values_list("body", flat=True)
    return _file(
        b"".join(bytes(body) + b"\n" for body in bodies), "application/x-ndjson", response_name(exchange)
    )


@login_required
@require_safe
def program(request: HttpRequest, public: UUID, number: int, name: str) -> HttpResponse:
    """One code sample; also what the page's copy button copies.

    It has what a named cache held inline, or with `body=sent` the name of the cache as it was sent.
    """
    exchange = kept_exchange_or_404(request, public, number)
    found = next((one for one in code_samples_of(exchange) if one.id == name), None)
    if found is None:
        raise Http404
    text = found.write(exchange, body_to_send(exchange, as_sent=request.GET.get("body") == "sent"))
    return _file(
        text.encode("utf-8", "replace"), "text/plain; charset=utf-8", f"exchange-{number}.{found.file}"
    )


@login_required
@require_safe
def har_file(request: HttpRequest, public: UUID, number: int) -> HttpResponse:
    return _json(har(kept_exchange_or_404(request, public, number)), f"exchange-{number}.har")


@login_required
@require_safe
def bundle_file(request: HttpRequest, public: UUID, number: int) -> HttpResponse:
    return _json(bundle(kept_exchange_or_404(request, public, number)), f"exchange-{number}.json")


def _json(value: dict[str, Any], name: str) -> HttpResponse:
    body = json.dumps(value, ensure_ascii=False, indent=1).encode("utf-8", "replace")
    return _file(body, MIME, name)


def _file(body: bytes, content_type: str, name: str) -> HttpResponse:
    headers = {"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "private, no-store"}
    return HttpResponse(body, content_type=content_type, headers=headers)
