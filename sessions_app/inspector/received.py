"""What has come of an answer that is still being received."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import Count, Max, Min

from sessions_app.models import Exchange, RawChunk


@dataclass(frozen=True, slots=True)
class Received:
    """The chunks stored so far; milliseconds count from when the request was sent."""

    count: int = 0
    first_ms: float | None = None
    last_ms: float | None = None


NOTHING_YET = Received()


def received_by(keys: Iterable[int]) -> dict[int, Received]:
    """What has come, by key of the exchange; without those of which no chunk has. One query."""
    wanted = list(keys)
    if not wanted:
        return {}
    rows = RawChunk.objects.filter(exchange__in=wanted).order_by().values_list("exchange")
    counted = rows.annotate(Count("pk"), Min("ms"), Max("ms"))
    return {key: Received(count, first, last) for key, count, first, last in counted}


def received_so_far(exchange: Exchange) -> Received:
    """Nothing for an exchange that has ended: its own columns say more."""
    keys = [exchange.pk] if exchange.is_open else []
    return received_by(keys).get(exchange.pk, NOTHING_YET)
