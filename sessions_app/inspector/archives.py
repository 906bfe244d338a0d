"""An exchange as one file: HAR for tools that read it, or everything that is known of it as JSON."""

import hashlib
from typing import Any

from sessions_app.inspector.programs import GOOGLE, path_of
from sessions_app.models import Exchange, RawChunk

MIME = "application/json"
SSE = "text/event-stream"


def har(exchange: Exchange) -> dict[str, Any]:
    """HTTP Archive 1.2. The headers are those that matter: the real ones are not stored, the key never is."""
    chunks = list(exchange.chunks.all())
    total, first = exchange.total_ms or 0.0, exchange.first_chunk_ms or 0.0
    entry = {
        "startedDateTime": exchange.started_at.isoformat(),
        "time": total,
        "request": _request(exchange),
        "response": _response(exchange, chunks),
        "cache": {},
        "timings": {"send": 0, "wait": first, "receive": max(0.0, total - first)},
        "comment": f"Exchange {exchange.number}, {exchange.provider}",
    }
    return {"log": {"version": "1.2", "creator": {"name": "Pipeweb", "version": "1"}, "entries": [entry]}}


def _request(exchange: Exchange) -> dict[str, Any]:
    body, path = exchange.sent_body(), path_of(exchange)
    query = [{"name": "alt", "value": "sse"}] if path.endswith("?alt=sse") else []
    return {
        "method": "POST",
        "url": GOOGLE + path,
        "httpVersion": "HTTP/1.1",
        "cookies": [],
        "headers": [{"name": "Content-Type", "value": MIME}],
        "queryString": query,
        "postData": {"mimeType": MIME, "text": body.decode("utf-8", "replace")},
        "headersSize": -1,
        "bodySize": len(body),
    }


def _response(exchange: Exchange, chunks: list[RawChunk]) -> dict[str, Any]:
    """Status 0 is HAR's word for an answer that never came."""
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


FACTS = (
    "number",
    "step",
    "model",
    "served_model",
    "route",
    "dialect",
    "provider",
    "fingerprint",
    "cache_action",
    "cache_name",
    "cache_reason",
    "cache_policy",
    "cache_mode",
    "strategy_reason",
    "verdict",
    "verdict_words",
    "break_line",
    "ledger",
    "money",
    "usd",
    "usage",
    "prompt_tokens",
    "cached_tokens",
    "output_tokens",
    "thought_tokens",
    "build_ms",
    "first_chunk_ms",
    "total_ms",
    "finish_reason",
    "outcome",
    "response_id",
    "error",
    "notes",
    "stages",
    "started_at",
    "ended_at",
)
"""Columns of the row that the bundle has as they are."""


def bundle(exchange: Exchange) -> dict[str, Any]:
    """Everything: the row, the items with their hashes, the request as text, each chunk as text."""
    body = exchange.sent_body()
    return {
        "pipeweb": 1,
        "exchange": {name: _plain(getattr(exchange, name)) for name in FACTS},
        "items": _items(exchange),
        "request": {
            "sha256": hashlib.sha256(body).hexdigest(),
            "noted_sha256": exchange.noted_sha256,
            "body": body.decode("utf-8", "replace"),
        },
        "chunks": [
            {"seq": chunk.seq, "ms": chunk.ms, "body": bytes(chunk.body).decode("utf-8", "replace")}
            for chunk in exchange.chunks.all()
        ],
    }


def _plain(value: Any) -> Any:
    """What JSON can hold; money as text, since a float would round it."""
    return value if value is None or isinstance(value, str | int | float | list | dict) else str(value)


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
