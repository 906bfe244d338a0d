"""What the rows of a reply refer to, in one query: the head, the exchange before it, waiting messages."""

from typing import Any, NamedTuple

from django.db.models import BigIntegerField, Count, Exists, FilteredRelation, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from sessions_app.models import Exchange, HistoryDrop, QueuedMessage, Session, Turn
from sessions_app.models.prepared import Parameter, Reading
from sessions_app.runs.comparison import PREVIOUS_FIELDS

BEFORE_FIELDS = (*PREVIOUS_FIELDS, "fingerprint", "cache_action", "cache_name")
"""Columns that are read of an earlier exchange."""

NONE = 0
"""A key that no row has."""


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
    if exchange.previous_id is not None:
        exchange.previous = _loaded(Exchange, _columns(), before) if before[0] else None
    found = _loaded(Turn, ["id", "depth", "session_id"], [head, depth, exchange.session_id]) if head else None
    return ReplySetting(found, waiting, bool(has_drops))


def _columns() -> list[str]:
    meta: Any = Exchange._meta
    return [meta.get_field(name).attname for name in ("id", *BEFORE_FIELDS)]


def _loaded(model: Any, columns: list[str], values: list[Any]) -> Any:
    """A row of which only these columns have been read."""
    order = [field.attname for field in model._meta.concrete_fields]
    pairs = sorted(zip(columns, values, strict=True), key=lambda pair: order.index(pair[0]))
    return model.from_db(model.objects.db, [name for name, _ in pairs], [value for _, value in pairs])


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
