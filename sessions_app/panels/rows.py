"""Reads the rows of several tables in one statement, each decoded into its own type.

A request reads up to a dozen tables for its panels; a statement for each would cost more than the rest of the
request. Building SQL costs more than running it, so the part of each source is compiled once.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache, lru_cache
from typing import Annotated, Any, ClassVar, Generic, NamedTuple, Protocol, TypeVar

from django.db import connections
from django.db.models import BigIntegerField, F, QuerySet, Value
from django.db.models.functions import JSONObject
from pydantic import AfterValidator, BaseModel, ConfigDict

from sessions_app.models import Session
from sessions_app.models.execution import execute
from sessions_app.models.prepared import Compiled, Parameter

Moment = Annotated[datetime, AfterValidator(lambda at: at if at.tzinfo else at.replace(tzinfo=UTC))]
"""A datetime of the database: SQLite stores it in UTC, without a zone."""

Rows = Mapping[str, Sequence[Any]]
"""The key of a source → its rows."""


class HasRows(Protocol):
    @property
    def rows(self) -> Rows: ...


class PanelRow(BaseModel):
    """One row of a source, as the prompt, the tools and an exported file see it.

    Fields are named like the columns, or the annotations, of the source's queryset.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    @property
    def value(self) -> Any:
        """What is sent of it."""
        return self.model_dump()


R = TypeVar("R", bound=PanelRow)


class RowSource(Generic[R]):
    """Rows of one table that belong to a session or to its owner.

    `model` is None for a source without rows of its own; `order` names the integer column that sorts
    them. `is_transferred` decides whether a fork and an exported file get all rows of `model`, with all
    fields of `row` but the primary key; `transfer_reason` says why.
    """

    key: ClassVar[str]
    model: ClassVar[Any] = None
    row: ClassVar[type[PanelRow]] = PanelRow
    order: ClassVar[str] = "pk"
    is_transferred: ClassVar[bool | None] = None
    transfer_reason: ClassVar[str] = ""

    def queryset(self, session: Any, owner: Any) -> "QuerySet[Any] | None":
        """The rows that are read for a request; both arguments are primary keys or expressions."""
        rows: QuerySet[Any] | None = self.model and self.model.objects.filter(session=session)
        return rows

    def stored(self, session: Session) -> Any:
        """The same rows as model instances, for a page."""
        rows = self.queryset(session.pk, session.owner_id)
        return rows if rows is None else rows.order_by(self.order)

    @classmethod
    def of(cls, found: HasRows) -> Sequence[R]:
        """The rows of this source among those that were read."""
        rows: Sequence[R] = found.rows.get(cls.key, ())
        return rows


SESSION = Parameter("session", BigIntegerField())
OWNER = Parameter("owner", BigIntegerField())


class Statement(NamedTuple):
    sql: str
    params: tuple[Any, ...]


def read_rows(session: Session, sources: "Collection[RowSource[Any]]") -> Rows:
    """The rows of these sources in one query; a source without rows costs nothing."""
    alias = Session.objects.db
    found: defaultdict[str, list[PanelRow]] = defaultdict(list)
    union = _union(tuple(sources), alias)
    if union is None:
        return found
    connection = connections[alias]
    params = union.filled({"session": session.pk, "owner": session.owner_id}, connection)
    rows = execute(connection, union.sql, params).fetchall()
    types = {source.key: source.row for source in sources} if rows else {}
    for key, _, row in rows:
        found[key].append(types[key].model_validate_json(row))
    return found


@lru_cache(maxsize=256)
def _union(sources: "tuple[RowSource[Any], ...]", alias: str) -> Compiled | None:
    """The statement for these sources; sessions have few choices of panels."""
    parts = [one for source in sources if (one := _compiled(source, alias))]
    sql = " UNION ALL ".join(one.sql for one in parts) + " ORDER BY 1, 2"
    return Compiled(sql, [param for one in parts for param in one.params]) if parts else None


@cache
def _compiled(source: "RowSource[Any]", alias: str) -> Statement | None:
    rows = source.queryset(SESSION, OWNER)
    if rows is None:
        return None
    columns = rows.order_by().annotate(
        source_key=Value(source.key),
        source_order=F(source.order),
        source_row=JSONObject(**{name: F(name) for name in source.row.model_fields}),
    )
    query = columns.values_list("source_key", "source_order", "source_row").query
    sql, params = query.get_compiler(alias).as_sql()
    return Statement(sql, tuple(params))
