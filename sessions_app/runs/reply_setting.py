"""What the rows of a reply refer to, in one query: the head, the exchange before it, waiting messages."""

from functools import cache
from typing import Any, NamedTuple

from django.db.models import BigIntegerField, Count, Exists, FilteredRelation, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from sessions_app.models import Exchange, HistoryDrop, QueuedMessage, Session, Turn
from sessions_app.models.instances import loaded
from sessions_app.models.prepared import NONE, Parameter, Reading
from sessions_app.runs.comparison import PREVIOUS_FIELDS

BEFORE_FIELDS = (*PREVIOUS_FIELDS, "fingerprint", "cache_action", "cache_name")
"""Columns that are read of an earlier exchange."""


class ReplySetting(NamedTuple):
    """The session's head, below which the answer stands, and how many messages are queued.

    `has_drops`: parts of the history wait to go.
    """

    head: Turn | None
    waiting: int
    has_drops: bool


def read_setting(exchange: Exchange) -> ReplySetting:
    """Also sets the exchange that this one is compared with. The run has to be held."""
    given = {"session": exchange.session_id, "previous": exchange.previous_id or NONE}
    ((head, depth, waiting, has_drops, *before),) = _settings.all(**given)
    alias = Exchange.objects.db
    if exchange.previous_id is not None:
        exchange.previous = loaded(Exchange, alias, _columns(), before) if before[0] else None
    named = ("id", "depth", "session_id")
    found = loaded(Turn, alias, named, (head, depth, exchange.session_id)) if head else None
    return ReplySetting(found, waiting, bool(has_drops))


@cache
def _columns() -> tuple[str, ...]:
    meta: Any = Exchange._meta
    return tuple(meta.get_field(name).attname for name in ("id", *BEFORE_FIELDS))


def _setting_query() -> "QuerySet[Session, tuple[Any, ...]]":
    session, previous = (Parameter(name, BigIntegerField()) for name in ("session", "previous"))
    queued = QueuedMessage.objects.filter(session=OuterRef("pk")).order_by().values("session")
    rows = Session.objects.filter(pk=session).annotate(
        waiting=Coalesce(Subquery(queued.values(count=Count("pk"))), 0),
        has_drops=Exists(HistoryDrop.objects.waiting().filter(session=OuterRef("pk"))),
        before=FilteredRelation("exchanges", condition=Q(exchanges__pk=previous)),
    )
    columns = [f"before__{name}" for name in ("id", *BEFORE_FIELDS)]
    return rows.values_list("head_id", "head__depth", "waiting", "has_drops", *columns)


_settings: Reading[tuple[Any, ...]] = Reading(_setting_query)
