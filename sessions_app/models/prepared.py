"""Statements that every turn runs: Django builds and compiles each of them once in a process, not each time.

Building and compiling takes several times longer than running. What is compiled is Django's own SQL for the
database in use; signals, converters of columns and errors are those of the ORM.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import cache, cached_property
from itertools import chain
from typing import Any, Generic, TypeVar

from django.db import DatabaseError, connections, transaction
from django.db.models import Model, QuerySet, Value
from django.db.models.constants import OnConflict
from django.db.models.query import ValuesListIterable, get_related_populators
from django.db.models.signals import post_save, pre_save
from django.db.models.sql import InsertQuery, UpdateQuery

from sessions_app.models.column_values import TAKEN_AS_THEY_ARE, Convert, StoredValues, reader_of
from sessions_app.models.execution import execute
from sessions_app.models.instances import loaded

Row = TypeVar("Row", bound=Model)
Found = TypeVar("Found")

NONE = 0
"""A key that no row has, for a parameter that is never None."""


class Parameter(Value):
    """A placeholder in a compiled statement; its value is given when it runs, and is never None."""

    def as_sql(self, compiler: Any, connection: Any) -> tuple[str, Any]:
        return "%s", [self]


def parameter(model: type[Model], name: str) -> Parameter:
    """A value of a column, by the column's name."""
    column: Any = model._meta.get_field(name)
    return Parameter(name, column)


class Compiled:
    """SQL and its parameters, some of which are `Parameter`."""

    def __init__(self, sql: str, params: Sequence[Any]) -> None:
        self.sql = sql
        self._params = list(params)
        self._places = [
            (place, one.value, one.output_field, TAKEN_AS_THEY_ARE.get(type(one.output_field)))
            for place, one in enumerate(params)
            if isinstance(one, Parameter)
        ]

    def filled(self, given: dict[str, Any], connection: Any) -> list[Any]:
        """The parameters with the given values, as the database takes them."""
        params = self._params.copy()
        for place, name, field, taken in self._places:
            value = given[name]
            is_taken = type(value) is taken
            params[place] = value if is_taken else field.get_db_prep_value(value, connection)
        return params


class Reading(Generic[Found]):
    """A query with `Parameter`s, of model instances with relations and annotations, or a `values_list`."""

    def __init__(self, build: Callable[[], "QuerySet[Any, Any]"]) -> None:
        self._build = build

    def all(self, **given: Any) -> list[Found]:
        """The rows with these values of the parameters."""
        connection, compiled = connections[self._alias], self._compiled
        rows = execute(connection, compiled.sql, compiled.filled(given, connection)).fetchall()
        return self._made(self._converted(rows))

    def first(self, **given: Any) -> Found | None:
        """The query has to be limited to one row."""
        return next(iter(self.all(**given)), None)

    @cached_property
    def _query(self) -> "QuerySet[Any, Any]":
        return self._build()

    @cached_property
    def _alias(self) -> str:
        return self._query.db

    @cached_property
    def _compiler(self) -> Any:
        return self._query.query.get_compiler(self._alias)

    @cached_property
    def _compiled(self) -> Compiled:
        sql, params = self._compiler.as_sql()
        return Compiled(sql, params)

    @cached_property
    def _readers(self) -> list[tuple[int, Convert]]:
        """Columns whose values are converted."""
        columns = [one[0] for one in self._compiler.select[: self._compiler.col_count]]
        found = self._compiler.get_converters(columns)
        connection = self._compiler.connection
        return [
            (place, reader_of(converters, expression, connection))
            for place, (converters, expression) in found.items()
        ]

    def _converted(self, rows: Sequence[tuple[Any, ...]]) -> Iterator[list[Any]]:
        for values in map(list, rows):
            for place, convert in self._readers:
                values[place] = convert(values[place])
            yield values

    def _made(self, rows: Iterator[list[Any]]) -> list[Any]:
        if issubclass(self._query._iterable_class, ValuesListIterable):
            return [tuple(values) for values in rows]
        return [self._instance(values) for values in rows]

    def _instance(self, values: list[Any]) -> Any:
        model, names, first, last, related = self._shape
        found = loaded(model, self._alias, names, values[first:last])
        for one in related:
            one.populate(values, found)
        for name, place in self._compiler.annotation_col_map.items():
            setattr(found, name, values[place])
        return found

    @cached_property
    def _shape(self) -> tuple[Any, list[str], int, int, list[Any]]:
        """The model, its columns and where they begin and end, and what fills its relations."""
        kind, select = self._compiler.klass_info, self._compiler.select
        first, last = kind["select_fields"][0], kind["select_fields"][-1] + 1
        names = [one[0].target.attname for one in select[first:last]]
        populators: Any = get_related_populators
        return kind["model"], names, first, last, populators(kind, select, self._alias)


class Change:
    """An UPDATE with `Parameter`s: the rows, and what becomes of their columns."""

    def __init__(self, build: Callable[[], "tuple[QuerySet[Any, Any], dict[str, Any]]"]) -> None:
        self._build = build

    def run(self, **given: Any) -> int:
        """Returns how many rows were changed."""
        alias, compiled = self._statement
        connection = connections[alias]
        with transaction.mark_for_rollback_on_error(alias):
            return int(execute(connection, compiled.sql, compiled.filled(given, connection)).rowcount)

    @cached_property
    def _statement(self) -> tuple[str, Compiled]:
        rows, changes = self._build()
        query: Any = rows.query.chain(UpdateQuery)
        query.add_update_values(changes)
        query.clear_ordering(force=True)
        sql, params = query.get_compiler(rows.db).as_sql()
        return rows.db, Compiled(sql, params)


def insert(row: Row) -> Row:
    """`row.save(force_insert=True)` for a model with a key that the database gives, in one statement."""
    insert_all([row], signals=True)
    return row


def insert_all(
    rows: Sequence[Model],
    *,
    unique: tuple[str, ...] = (),
    updated: tuple[str, ...] = (),
    signals: bool = False,
) -> None:
    """`bulk_create` of rows of one model; those that are there by `unique` get the columns `updated`.

    Each row gets its key. Without `signals`, like `bulk_create`, none are sent.
    """
    if not rows:
        return
    model = type(rows[0])
    alias = model._default_manager.db
    for row in rows if signals else ():
        pre_save.send(model, instance=row, raw=False, using=alias, update_fields=None)
    insertion = _insertion(model, alias, _columns_of(model), unique, updated)
    connection = connections[alias]
    stored = [insertion.values.of(row, connection, add=True) for row in rows]
    for row, key in zip(rows, insertion.run(connection, stored), strict=True):
        row.pk, row._state.adding, row._state.db = key, False, alias
    for row in rows if signals else ():
        post_save.send(model, instance=row, created=True, update_fields=None, raw=False, using=alias)


def insert_values(
    model: type[Model],
    names: tuple[str, ...],
    rows: Sequence[Sequence[Any]],
    *,
    unique: tuple[str, ...] = (),
    updated: tuple[str, ...] = (),
) -> list[int]:
    """As `insert_all`, for rows of which there are no instances; returns their keys in order.

    `names` are all columns but the key. The values are those of the database: no `datetime`, UUID or JSON.
    """
    alias = model._default_manager.db
    return _insertion(model, alias, names, unique, updated).run(connections[alias], rows) if rows else []


def update(row: Model, *names: str) -> None:
    """`row.save(update_fields=names)` for plain values. Raises DatabaseError when there is no such row."""
    model, alias = type(row), row._state.db or type(row)._default_manager.db
    connection, sent = connections[alias], frozenset(names)
    pre_save.send(model, instance=row, raw=False, using=alias, update_fields=sent)
    sql, values = _update(model, alias, names)
    params = [*values.of(row, connection, add=False), row.pk]
    with transaction.mark_for_rollback_on_error(alias):
        if not execute(connection, sql, params).rowcount:
            raise DatabaseError("Save with update_fields did not affect any rows.")
    post_save.send(model, instance=row, created=False, update_fields=sent, raw=False, using=alias)


class _Insertion:
    """An INSERT of rows with these columns, for any number of rows."""

    def __init__(
        self,
        model: type[Model],
        alias: str,
        names: tuple[str, ...],
        unique: tuple[str, ...],
        updated: tuple[str, ...],
    ) -> None:
        meta: Any = model._meta
        fields = [meta.get_field(name) for name in names]
        query: Any = InsertQuery(
            model,
            on_conflict=OnConflict.UPDATE if unique else None,
            update_fields=[meta.get_field(name) for name in updated],
            unique_fields=[meta.get_field(name) for name in unique],
        )
        query.insert_values(fields, [_Blank()], raw=True)
        compiler = query.get_compiler(alias)
        # SQLite runs a RETURNING as a trigger, for which it copies every page that the statement changes.
        self._tells_last_key = not unique and connections[alias].vendor == "sqlite"
        compiler.returning_fields = [meta.pk]
        ((sql, _),) = compiler.as_sql()
        self.values = StoredValues(fields)
        self._one = f"({', '.join(['%s'] * len(fields))})"
        self._head, self._tail = sql.split(f"VALUES {self._one}")

    def run(self, connection: Any, rows: Sequence[Sequence[Any]]) -> list[int]:
        """The keys of the rows, in their order."""
        with transaction.mark_for_rollback_on_error(connection.alias):
            if self._tells_last_key and len(rows) == 1:
                return [execute(connection, f"{self._head}VALUES {self._one}", rows[0]).lastrowid]
            params = [*chain.from_iterable(rows)]
            return [key for (key,) in execute(connection, self._for(len(rows)), params).fetchall()]

    def _for(self, count: int) -> str:
        return f"{self._head}VALUES {', '.join([self._one] * count)}{self._tail}"


_insertion = cache(_Insertion)


@cache
def _columns_of(model: type[Model]) -> tuple[str, ...]:
    """The names of all columns but the key."""
    return tuple(field.name for field in model._meta.concrete_fields if field is not model._meta.pk)


class _Blank:
    """A row without values: with `raw`, Django reads a row's attributes to compile its statement."""

    def __getattr__(self, name: str) -> None:
        return None


@cache
def _update(model: type[Model], alias: str, names: tuple[str, ...]) -> tuple[str, StoredValues]:
    meta: Any = model._meta
    quoted = connections[alias].ops.quote_name
    fields = [meta.get_field(name) for name in names]
    columns = ", ".join(f"{quoted(field.column)} = %s" for field in fields)
    table, key = quoted(meta.db_table), quoted(meta.pk.column)
    sql = f"UPDATE {table} SET {columns} WHERE {key} = %s"  # noqa: S608 (names of the models)
    return sql, StoredValues(fields)
