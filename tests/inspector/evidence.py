"""Attempts for tests of the inspector."""

from datetime import timedelta
from typing import Any

from sessions_app.models import Exchange, ExchangeAttempt
from sessions_app.models.exchange_attempt import AttemptRow
from tests.factories import NOW


def add_attempt(exchange: Exchange, body: bytes = b"", **columns: Any) -> ExchangeAttempt:
    """A stored attempt of the exchange, one second after the one before it."""
    number = exchange.attempts.count() + 1
    given: dict[str, Any] = {
        "number": number,
        "started_at": NOW + timedelta(seconds=exchange.number),
        "status": 200,
        "reason": "OK",
        "http_version": "HTTP/1.1",
        "request_headers": [["user-agent", "google-genai-sdk/3"], ["content-type", "application/json"]],
        "response_headers": [["content-type", "text/event-stream"]],
        "head_ms": 120.0,
        "total_ms": 480.0,
    }
    row = ExchangeAttempt(exchange=exchange, **(given | columns))
    ExchangeAttempt.objects.append([AttemptRow(row, exchange.session.owner_id, body)])
    return exchange.attempts.get(number=number)


REFUSAL = b'{"error":{"code":429,"message":"Slow down."}}'


def add_refusal(exchange: Exchange, body: bytes = REFUSAL, **columns: Any) -> ExchangeAttempt:
    Exchange.objects.filter(pk=exchange.pk).update(error={"code": 429, "message": "Slow down."})
    given: dict[str, Any] = {
        "status": 429,
        "reason": "Too Many Requests",
        "response_headers": [["content-type", "application/json"], ["retry-after", "7"]],
        "total_ms": 130.0,
    }
    return add_attempt(exchange, body, **(given | columns))
