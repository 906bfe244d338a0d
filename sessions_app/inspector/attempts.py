"""The HTTP requests of an exchange, and of those that it repeats or that repeat it."""

from collections.abc import Iterator
from dataclasses import dataclass

from sessions_app.inspector import formatting
from sessions_app.inspector.part_views import PartReader, ShownPart
from sessions_app.models import Exchange, ExchangeAttempt


@dataclass(frozen=True, slots=True)
class ShownAttempt:
    """`attempt` is None where the exchange has no stored one; `ordinal` counts the whole series."""

    ordinal: int
    exchange: Exchange
    attempt: ExchangeAttempt | None
    is_of_page: bool
    body: tuple[ShownPart, ...] = ()

    @property
    def rest(self) -> int:
        return sum(part.rest for part in self.body)

    @property
    def tone(self) -> str:
        status = self.attempt.status if self.attempt else None
        return "good" if status == 200 and not self.exchange.error else "bad"


def series_of(exchange: Exchange) -> list[Exchange]:
    """The exchange, those that it repeats and those that repeat it, oldest first: three queries."""
    same_step = Exchange.objects.filter(run=exchange.run_id, step=exchange.step).order_by("number")
    found = {one.pk: one for one in same_step.prefetch_related("attempts__body")}
    roots: dict[int, int] = {}
    for pk, one in found.items():
        roots[pk] = roots.get(one.resend_of_id or pk, pk)
    return [one for pk, one in found.items() if roots[pk] == roots[exchange.pk]]


def attempts_of(exchange: Exchange) -> Iterator[tuple[Exchange, ExchangeAttempt | None]]:
    """Every attempt of the series, in order; (exchange, None) where an exchange has none."""
    for one in series_of(exchange):
        for attempt in [*one.attempts.all()] or [None]:
            yield one, attempt


def shown_attempts(exchange: Exchange, reader: PartReader, *, raw: bool) -> list[ShownAttempt]:
    return [
        ShownAttempt(ordinal, one, attempt, one.pk == exchange.pk, shown_body(attempt, reader, raw=raw))
        for ordinal, (one, attempt) in enumerate(attempts_of(exchange), 1)
    ]


def shown_body(attempt: ExchangeAttempt | None, reader: PartReader, *, raw: bool) -> tuple[ShownPart, ...]:
    if attempt is None or attempt.body is None:
        return ()
    body = attempt.body.bytes
    return (reader.part("raw", "", formatting.decoded(body) if raw else formatting.pretty(body)),)
