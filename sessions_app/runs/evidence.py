"""The rows that the HTTP requests of an exchange leave."""

from sessions_app.gemini.http_evidence import HttpAttempt, HttpEvidence
from sessions_app.models import Exchange, ExchangeAttempt
from sessions_app.models.columns import storable
from sessions_app.models.exchange_attempt import AttemptRow
from sessions_app.models.instances import new


def attempt_rows(exchange: Exchange, owner_id: int, evidence: HttpEvidence) -> list[AttemptRow]:
    """Unsaved rows, in order; only the first waited."""
    return [
        AttemptRow(
            _attempt(exchange, number, one, 0.0 if number > 1 else evidence.waited_ms), owner_id, one.body
        )
        for number, one in enumerate(evidence.attempts, 1)
    ]


def _attempt(exchange: Exchange, number: int, one: HttpAttempt, waited_ms: float) -> ExchangeAttempt:
    return new(
        ExchangeAttempt,
        exchange_id=exchange.pk,
        number=number,
        waited_ms=waited_ms,
        started_at=one.started_at,
        request_headers=_pairs(one.request_headers),
        status=one.status,
        reason=storable(one.reason, 80),
        http_version=storable(one.http_version, 12),
        response_headers=_pairs(one.response_headers),
        head_ms=one.head_ms,
        total_ms=one.total_ms,
        is_cut=one.is_cut,
    )


def _pairs(headers: tuple[tuple[str, str], ...]) -> list[list[str]]:
    return [[storable(name), storable(value)] for name, value in headers]
