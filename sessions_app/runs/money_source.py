"""Whether the money of a request is paid or only would have been.

The emulator in this process has an endpoint of its own. One behind a base URL names itself in the head of
each response.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from django.db.models import QuerySet

from sessions_app.gemini.gateway import Gateway
from sessions_app.gemini.http_evidence import EMULATOR_HEADER, HttpEvidence
from sessions_app.gemini.routes import route_of
from sessions_app.hosts import EMULATOR, GOOGLE, is_google
from sessions_app.models import Booking, Exchange, ExchangeAttempt, Session
from sessions_app.models.prepared import Reading, parameter
from sessions_app.prompt.pricing import MoneySource
from sessions_app.prompt.routes import endpoint_of

EMULATOR_ENDPOINT = route_of(EMULATOR, "emulator")
"""The endpoint of the emulator in this process (`Gateway.to_emulator`), in either dialect."""


def source_of(exchange: Exchange) -> MoneySource:
    """Who counts the tokens of an exchange; unknown where no route was kept."""
    # Of a row without an address, of an earlier version, the route alone is believed.
    source = source_of_response(exchange.route, exchange.base_url or GOOGLE, _last_head(exchange))
    return MoneySource.CLIENT if source is MoneySource.PROVIDER and exchange.uses_client_key else source


def source_of_route(route: str) -> MoneySource:
    """As far as the route says."""
    if not route:
        return MoneySource.UNKNOWN
    return MoneySource.EMULATOR if endpoint_of(route) == EMULATOR_ENDPOINT else MoneySource.PROVIDER


def source_of_answer(gateway: Gateway, evidence: HttpEvidence) -> MoneySource:
    """Who counts the tokens of a request that is no exchange: a title, a draft, a cache."""
    return source_of_response(gateway.route, gateway.base_url, evidence.response_headers)


def source_of_response(route: str, base_url: str, headers: Iterable[Sequence[str]]) -> MoneySource:
    """As the route says, unless the head of a response names an emulator; Google's are not read for it."""
    source = source_of_route(route)
    if source is not MoneySource.PROVIDER or is_google(base_url):
        return source
    is_named = any(name == EMULATOR_HEADER for name, _ in headers)
    return MoneySource.EMULATOR if is_named else source


def source_of_cache(name: str, session: Session | None, route: str) -> MoneySource:
    """Who counts the tokens of a cache: as when it was made. Without a booking of that, as in the last
    exchange over its route that was answered.
    """
    booked = Booking.objects.filter(cache_name=name).order_by("pk").values_list("source", flat=True).first()
    if booked:
        return MoneySource(booked)
    if session is None:
        return source_of_route(route)
    answered = session.exchanges.filter(route=route, attempts__status__isnull=False)
    last = answered.order_by("-number").first()
    return source_of(last) if last else source_of_route(route)


def _last_head(exchange: Exchange) -> Iterator[Sequence[str]]:
    """The headers of the last response; queried only where they are asked for."""
    for (headers,) in _last_headers.all(exchange=exchange.pk):
        yield from headers


def _of_last_response() -> "QuerySet[Any, Any]":
    answered = ExchangeAttempt.objects.filter(
        exchange=parameter(ExchangeAttempt, "exchange"), status__isnull=False
    )
    return answered.order_by("-number").values_list("response_headers")[:1]


_last_headers: Reading[tuple[list[tuple[str, str]]]] = Reading(_of_last_response)
