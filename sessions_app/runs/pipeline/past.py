"""What a session's newest answers tell: who serves it, how it goes on, what to compare with. One query."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any, NamedTuple

from django.db.models import OuterRef, QuerySet, Subquery
from django.db.models.functions import Now
from django.utils import timezone

from sessions_app.context.capabilities import with_served
from sessions_app.models import CacheLesson, Exchange, Session
from sessions_app.prompt.pace import Seen

LOOKED_AT = 8
"""The newest exchanges that are read."""


class Answered(NamedTuple):
    """An exchange that the provider answered; `prompt` is None where it counted nothing.

    `refusal` is what its route and model now say against explicit caches, if anything.
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
class Past:
    """The newest answered exchanges of a session, newest first."""

    newest: tuple[Answered, ...] = ()

    @property
    def is_whole(self) -> bool:
        """Whether there are no others."""
        return len(self.newest) < LOOKED_AT

    @property
    def seen(self) -> list[Seen]:
        """Those that were counted, oldest first."""
        return [
            Seen(one.at, one.route, one.prompt, one.cached or 0, one.cache_name, one.layers)
            for one in reversed(self.newest)
            if one.prompt is not None
        ]

    def counted(self, **wanted: int | None) -> int | None:
        """The newest exchange whose prompt was counted, with these columns."""
        found = (one for one in self.newest if one.prompt)
        return next((one.pk for one in found if _has(one, wanted)), None)

    def refusal(self, route: str, model: str) -> str:
        """What the provider says against explicit caches there.

        A query more only where none of these exchanges went there.
        """
        for one in self.newest:
            if (one.route, one.model) == (route, model):
                return one.refusal or ""
        lesson = CacheLesson.objects.of(route, model) if self.newest else None
        return lesson.refusal(timezone.now()) if lesson else ""

    def served(self, session: Session, door: str) -> str:
        """The `modelVersion` of the newest answer that `door` gave for the session's model; empty: none yet.

        A query more only where that answer is older than those read here.
        """
        for one in self.newest:
            if one.served and one.model == session.model and one.route.startswith(f"{door}/"):
                return one.served
        if self.is_whole:
            return ""
        older = with_served(Session.objects.filter(pk=session.pk), door)
        return older.get().served or ""


def past_of(session: Session) -> Past:
    """No query before the first request."""
    if not session.exchange_count:
        return Past()
    rows = _answered().filter(session_id=session.pk)[:LOOKED_AT]
    return Past(tuple(Answered(*row) for row in rows))


@cache
def _answered() -> QuerySet[Exchange, tuple[Any, ...]]:
    """Kept, since Django takes longer to build such a query than the database to answer it."""
    refused = CacheLesson.objects.filter(
        route=OuterRef("route"), model=OuterRef("model"), refused_until__gt=Now()
    )
    rows = (
        Exchange.objects.exclude(prompt_tokens=None, served_model="")
        .annotate(refusal=Subquery(refused.values("reason")[:1]))
        .order_by("-number")
    )
    columns = ("pk", "run_id", "model", "served_model", "started_at", "route", "prompt_tokens")
    return rows.values_list(*columns, "cached_tokens", "cache_name", "layer_tokens", "refusal")


def _has(one: Answered, wanted: Mapping[str, int | None]) -> bool:
    return all(getattr(one, name) == value for name, value in wanted.items())
