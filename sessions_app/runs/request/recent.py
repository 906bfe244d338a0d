"""The newest answered exchanges of a session, as the stages of a request read them."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import OuterRef, QuerySet, Subquery
from django.db.models.functions import Now
from django.utils import timezone

from sessions_app.context.model_lookup import newest_served
from sessions_app.models import CacheRefusal, Exchange, Session
from sessions_app.models.prepared import Reading
from sessions_app.prompt.rollover import PastExchange
from sessions_app.runs.request.session_reading import SESSION

RECENT_LIMIT = 8
"""Number of exchanges that are read."""


class RecentExchange(NamedTuple):
    """An answered exchange; `prompt` is None without usage.

    `refusal` is the current refusal of explicit caches for its route and model, if any.
    """

    pk: int
    run: int
    model: str
    served: str
    at: datetime
    route: str
    prompt: int | None
    cached: int | None
    cache_name: str
    layers: Mapping[str, int]
    refusal: str | None


@dataclass(frozen=True, slots=True)
class RecentExchanges:
    """The newest answered exchanges of a session, newest first."""

    exchanges: tuple[RecentExchange, ...] = ()

    @property
    def is_complete(self) -> bool:
        """Whether these are all answered exchanges of the session."""
        return len(self.exchanges) < RECENT_LIMIT

    @property
    def counted_exchanges(self) -> list[PastExchange]:
        """Those with usage, oldest first."""
        return [
            PastExchange(one.at, one.route, one.prompt, one.cached or 0, one.cache_name, one.layers)
            for one in reversed(self.exchanges)
            if one.prompt is not None
        ]

    def caches_of(self, run_pk: int) -> frozenset[str]:
        """The caches that requests of this run named."""
        return frozenset(one.cache_name for one in self.exchanges if one.run == run_pk and one.cache_name)

    def counted(self, **fields: int | None) -> int | None:
        """Key of the newest exchange with a counted prompt and these fields."""
        found = (one for one in self.exchanges if one.prompt)
        return next((one.pk for one in found if _matches(one, fields)), None)

    def refusal(self, route: str, model: str) -> str:
        """The refusal of explicit caches; a query only when no recent exchange used route and model."""
        for one in self.exchanges:
            if (one.route, one.model) == (route, model):
                return one.refusal or ""
        lesson = CacheRefusal.objects.of(route, model) if self.exchanges else None
        return lesson.refusal(timezone.now()) if lesson else ""

    def served(self, session: Session, endpoint: str) -> str:
        """The `modelVersion` of the newest answer of `endpoint` for the session's model; empty without one.

        A query only when that answer is older than these exchanges.
        """
        for one in self.exchanges:
            if one.served and one.model == session.model and one.route.startswith(f"{endpoint}/"):
                return one.served
        if self.is_complete:
            return ""
        return newest_served(session, endpoint)


def recent_exchanges(session: Session) -> RecentExchanges:
    """Reads the newest answered exchanges: one query, none before the first request."""
    if not session.exchange_count:
        return RecentExchanges()
    rows = _recent.all(session=session.pk)
    return RecentExchanges(tuple(RecentExchange(*row) for row in rows))


def _recent_query() -> QuerySet[Exchange, tuple[Any, ...]]:
    refused = CacheRefusal.objects.filter(
        route=OuterRef("route"), model=OuterRef("model"), refused_until__gt=Now()
    )
    rows = (
        Exchange.objects.filter(session=SESSION)
        .exclude(prompt_tokens=None, served_model="")
        .annotate(refusal=Subquery(refused.values("said")[:1]))
        .order_by("-number")
    )
    columns = ("pk", "run_id", "model", "served_model", "started_at", "route", "prompt_tokens")
    named = rows.values_list(*columns, "cached_tokens", "cache_name", "layer_tokens", "refusal")
    return named[:RECENT_LIMIT]


_recent: Reading[tuple[Any, ...]] = Reading(_recent_query)


def _matches(one: RecentExchange, fields: Mapping[str, int | None]) -> bool:
    return all(getattr(one, name) == value for name, value in fields.items())
