"""An exchange as an HTTP Archive (HAR 1.2): an entry for each attempt up to it, with what is stored of it."""

import base64
from collections.abc import Iterable
from typing import Any
from urllib.parse import parse_qsl

from sessions_app.hosts import UNKNOWN as UNKNOWN_ADDRESS
from sessions_app.inspector.attempts import attempts_of
from sessions_app.inspector.code_samples import path_of
from sessions_app.models import Exchange, ExchangeAttempt
from sessions_app.models.answering import host
from sessions_app.prompt.verdict import VerdictReason

MIME = "application/json"
SSE = "text/event-stream"

FRAME = b"data: %b\r\n\r\n"
"""A chunk as a server-sent event."""

UNKNOWN = "unknown"

CUT_OFF = VerdictReason.CUT_OFF.value

NOT_STORED = "Headers and times are not stored: an earlier version sent it, or its process ended."
NOT_TEXT = "The body is not UTF-8 throughout: U+FFFD stands for what is none."
CUT = "The body is its beginning only, or was not read."


def har(exchange: Exchange) -> dict[str, Any]:
    """The exchange's attempts, after those of the exchanges that it repeats."""
    entries = [
        _entry(one, attempt) for one, attempt in attempts_of(exchange) if one.number <= exchange.number
    ]
    return {"log": {"version": "1.2", "creator": {"name": "Pipeweb", "version": "1"}, "entries": entries}}


def _entry(exchange: Exchange, attempt: ExchangeAttempt | None) -> dict[str, Any]:
    """Names of our own begin with an underscore, as the format asks."""
    timings = _timings(exchange, attempt)
    comments = [f"Exchange {exchange.number}, {host(exchange)}."]
    comments += [NOT_STORED] if attempt is None else [CUT] if attempt.is_cut else []
    own = {"_attempt": attempt.number, "_waited_ms": attempt.waited_ms} if attempt else {}
    return {
        "startedDateTime": (attempt or exchange).started_at.isoformat(),
        "time": sum(timings.values()),
        "request": _request(exchange, attempt),
        "response": _response(exchange, attempt),
        "cache": {},
        "timings": timings,
        "comment": " ".join(comments),
        "_exchange": exchange.number,
        **own,
    }


def _timings(exchange: Exchange, attempt: ExchangeAttempt | None) -> dict[str, float]:
    """Sending is counted as waiting: nothing tells when the last byte left."""
    if attempt is None:
        total, first = exchange.total_ms or 0.0, exchange.first_chunk_ms or 0.0
    else:
        total = attempt.total_ms or 0.0
        first = total if attempt.head_ms is None else attempt.head_ms
    return {"send": 0, "wait": first, "receive": max(0.0, total - first)}


def _request(exchange: Exchange, attempt: ExchangeAttempt | None) -> dict[str, Any]:
    body, path = exchange.sent_body(), path_of(exchange)
    query = [{"name": name, "value": value} for name, value in parse_qsl(path.partition("?")[2])]
    return {
        "method": "POST",
        "url": (exchange.base_url or UNKNOWN_ADDRESS) + path,
        "httpVersion": _version(attempt),
        "cookies": [],
        "headers": _headers(attempt.request_headers if attempt else [("content-type", MIME)]),
        "queryString": query,
        "postData": {"mimeType": MIME, **_sent_text(body)},
        "headersSize": -1,
        "bodySize": len(body),
    }


def _response(exchange: Exchange, attempt: ExchangeAttempt | None) -> dict[str, Any]:
    """Status 0 means in HAR that no response was received."""
    body, mime = _content(exchange, attempt)
    return {
        "status": (attempt.status or 0) if attempt else _old_status(exchange),
        "statusText": attempt.reason if attempt else "",
        "httpVersion": _version(attempt),
        "cookies": [],
        "headers": _headers(attempt.response_headers if attempt else [("content-type", SSE)]),
        "content": {"size": len(body), "mimeType": mime, **_text(body)},
        "redirectURL": "",
        "headersSize": -1,
        "bodySize": -1,
        **_packets(exchange, attempt, body),
        **_broken(exchange, attempt),
    }


def _broken(exchange: Exchange, attempt: ExchangeAttempt | None) -> dict[str, str]:
    """What Chromium calls an answer that did not come to its end; nothing for a whole one."""
    is_of_answer = exchange.verdict_figures.get("reason") == CUT_OFF and _has_chunks(exchange, attempt)
    return {"_error": CUT_OFF} if is_of_answer or (attempt is not None and attempt.is_cut) else {}


def _packets(exchange: Exchange, attempt: ExchangeAttempt | None, body: bytes) -> dict[str, Any]:
    """When the body came: pairs of milliseconds and bytes; nothing where these do not make it up."""
    captured = exchange.captured_request
    if captured is not None:
        is_whole = sum(size for _, size in captured.packets) == len(body)
        return {"_packets": captured.packets} if captured.packets and is_whole else {}
    if not _has_chunks(exchange, attempt) or (attempt is not None and attempt.body is not None):
        return {}
    chunks = exchange.chunks.values_list("ms", "body")
    return {"_packets": [[ms, len(FRAME % bytes(body))] for ms, body in chunks]}


def _has_chunks(exchange: Exchange, attempt: ExchangeAttempt | None) -> bool:
    """Whether the chunks of the exchange came in this attempt: the last one, if it was answered."""
    return attempt is None or (attempt.status == 200 and attempt.number == len(exchange.attempts.all()))


def _old_status(exchange: Exchange) -> int:
    code = exchange.error.get("code")
    if isinstance(code, int):
        return code
    return 200 if exchange.chunks.exists() else 0


def _content(exchange: Exchange, attempt: ExchangeAttempt | None) -> tuple[bytes, str]:
    """The chunks in the framing of server-sent events, and what came in the place of the next one; of a
    program's request what it received. With the type that was said.
    """
    body = b""
    captured = exchange.captured_request
    if captured is not None:
        body = captured.received_body()
    elif _has_chunks(exchange, attempt):
        chunks = exchange.chunks.values_list("body", flat=True)
        body = b"".join(FRAME % bytes(chunk) for chunk in chunks)
    if captured is None and attempt is not None and attempt.body is not None:
        body += attempt.body.bytes
    said = dict(attempt.response_headers).get("content-type", "") if attempt else SSE
    return body, said or UNKNOWN


def _sent_text(body: bytes) -> dict[str, str]:
    """The format has no other form than text for what was sent."""
    try:
        return {"text": body.decode()}
    except UnicodeDecodeError:
        return {"text": body.decode("utf-8", "replace"), "comment": NOT_TEXT}


def _text(body: bytes) -> dict[str, str]:
    try:
        return {"text": body.decode()}
    except UnicodeDecodeError:
        return {"text": base64.b64encode(body).decode("ascii"), "encoding": "base64"}


def _headers(pairs: Iterable[Iterable[str]]) -> list[dict[str, str]]:
    return [{"name": name, "value": value} for name, value in pairs]


def _version(attempt: ExchangeAttempt | None) -> str:
    return (attempt.http_version if attempt else "") or UNKNOWN
