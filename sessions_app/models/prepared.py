"""Statements that every turn runs: Django builds and compiles each of them once in a process, not each time.

Building and compiling takes several times longer than running. What is compiled is Django's own SQL for the
database in use; signals, converters of columns and errors are those of the ORM.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import cache, cached_property
from typing import Any, Generic, NamedTuple, TypeVar

from django.db import DatabaseError, connections, transaction
from django.db.models import (
    BigIntegerField,
    BooleanField,
    CharField,
    Field,
    FloatField,
    ForeignKey,
    Model,
    PositiveIntegerField,
    PositiveSmallIntegerField,
    QuerySet,
    TextField,
    Value,
)
from django.db.models.constants import OnConflict
from django.db.models.query import ValuesListIterable, get_related_populators
from django.db.models.signals import post_save, pre_save
from django.db.models.sql import InsertQuery, UpdateQuery

Row = TypeVar("Row", bound=Model)
Found = TypeVar("Found")


TAKEN_AS_THEY_ARE: "dict[type[Field[Any, Any]], type]" = {
    BigIntegerField: int,
    BooleanField: bool,
    CharField: str,
    FloatField: float,
    ForeignKey: int,
    PositiveIntegerField: int,
    PositiveSmallIntegerField: int,
    TextField: str,
}
"""Fields, and the type of which every database takes values, and None, without a conversion."""


class Parameter(Value):
    """A placeholder in a compiled statement; its value is given when it runs, and is never None."""

    def as_sql(self, compiler: Any, connection: Any) -> tuple[str, Any]:
        return "%s", [self]


def parameter(model: type[Model], name: str) -> Parameter:
    """A value of a column, by the column's name."""
    column: Any = model._meta.get_field(name)
    return Parameter(name, column)


class Compiled(NamedTuple):
    """SQL and its parameters, some of which are `Parameter`."""

    sql: str
    params: tuple[Any, ...]

    def filled(self, given: dict[str, Any], connection: Any) -> list[Any]:
        """The parameters with the given values, as the database takes them."""
        return [
            param.output_field.get_db_prep_value(given[param.value], connection)
            if isinstance(param, Parameter)
            else param
            for param in self.params
        ]


class Reading(Generic[Found]):
    """A query with `Parameter`s, of model instances with relations and annotations, or a `values_list`."""

    def __init__(self, build: Callable[[], "QuerySet[Any, Any]"]) -> None:
        self._build = build

    def all(self, **given: Any) -> list[Found]:
        """The rows with these values of the parameters."""
        connection = connections[self._alias]
        with connection.cursor() as cursor:
            cursor.execute(self._compiled.sql, self._compiled.filled(given, connection))
            rows: Sequence[tuple[Any, ...]] = cursor.fetchall()
        return list(self._made(self._converted(rows, connection)))

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
        return Compiled(sql, tuple(params))

    @cached_property
    def _converters(self) -> list[tuple[int, list[Any], Any]]:
        """Column, its converters, its expression."""
        columns = [one[0] for one in self._compiler.select[: self._compiler.col_count]]
        found = self._compiler.get_converters(columns)
        return [(place, converters, expression) for place, (converters, expression) in found.items()]

    def _converted(self, rows: Sequence[tuple[Any, ...]], connection: Any) -> Iterator[list[Any]]:
        for values in map(list, rows):
            for place, converters, expression in self._converters:
                for convert in converters:
                    values[place] = convert(values[place], expression, connection)
            yield values

    def _made(self, rows: Iterator[list[Any]]) -> Iterator[Any]:
        if issubclass(self._query._iterable_class, ValuesListIterable):
            return map(tuple, rows)
        return map(self._instance, rows)

    def _instance(self, values: list[Any]) -> Any:
        model, names, first, last, related = self._shape
        found = model.from_db(self._alias, names, values[first:last])
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
        with transaction.mark_for_rollback_on_error(alias), connections[alias].cursor() as cursor:
            cursor.execute(compiled.sql, compiled.filled(given, connections[alias]))
            return int(cursor.rowcount)

    @cached_property
    def _statement(self) -> tuple[str, Compiled]:
        rows, changes = self._build()
        query: Any = rows.query.chain(UpdateQuery)
        query.add_update_values(changes)
        query.clear_ordering(force=True)
        sql, params = query.get_compiler(rows.db).as_sql()
        return rows.db, Compiled(sql, tuple(params))


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
    connection = connections[alias]
    for row in rows if signals else ():
        pre_save.send(model, instance=row, raw=False, using=alias, update_fields=None)
    sql, fields = _insertion(model, alias, len(rows), unique, updated)
    params = [_stored(field, row, connection, add=True) for row in rows for field in fields]
    with transaction.mark_for_rollback_on_error(alias), connection.cursor() as cursor:
        cursor.execute(sql, params)
        keys = cursor.fetchall()
    for row, (key,) in zip(rows, keys, strict=True):
        row.pk, row._state.adding, row._state.db = key, False, alias
    for row in rows if signals else ():
        post_save.send(model, instance=row, created=True, update_fields=None, raw=False, using=alias)


def update(row: Model, *names: str) -> None:
    """`row.save(update_fields=names)` for plain values. Raises DatabaseError when there is no such row."""
    model, alias = type(row), row._state.db or type(row)._default_manager.db
    connection, sent = connections[alias], frozenset(names)
    pre_save.send(model, instance=row, raw=False, using=alias, update_fields=sent)
    sql, fields = _update(model, alias, names)
    params = [_stored(field, row, connection, add=False) for field in fields]
    with transaction.mark_for_rollback_on_error(alias), connection.cursor() as cursor:
        cursor.execute(sql, [*params, row.pk])
        if not cursor.rowcount:
            raise DatabaseError("Save with update_fields did not affect any rows.")
    post_save.send(model, instance=row, created=False, update_fields=sent, raw=False, using=alias)


def _stored(field: Any, row: Model, connection: Any, *, add: bool) -> Any:
    """A value as the database takes it; Django's way to it is needed only where that is another one."""
    taken = TAKEN_AS_THEY_ARE.get(type(field))
    if taken is not None:
        value = getattr(row, field.attname)
        if value is None or type(value) is taken:
            return value
    return field.get_db_prep_save(field.pre_save(row, add=add), connection)


@cache
def _insertion(
    model: type[Model], alias: str, count: int, unique: tuple[str, ...], updated: tuple[str, ...]
) -> tuple[str, list[Any]]:
    """The statement for so many rows, and the fields whose values it takes of each."""
    meta: Any = model._meta
    fields = [field for field in meta.concrete_fields if field is not meta.pk]
    query: Any = InsertQuery(
        model,
        on_conflict=OnConflict.UPDATE if unique else None,
        update_fields=[meta.get_field(name) for name in updated],
        unique_fields=[meta.get_field(name) for name in unique],
    )
    query.insert_values(fields, [_Blank()], raw=True)
    compiler = query.get_compiler(alias)
    compiler.returning_fields = [meta.pk]
    ((sql, _),) = compiler.as_sql()
    one = f"({', '.join(['%s'] * len(fields))})"
    head, tail = sql.split(f"VALUES {one}")
    return f"{head}VALUES {', '.join([one] * count)}{tail}", fields


class _Blank:
    """A row without values: with `raw`, Django reads a row's attributes to compile its statement."""

    def __getattr__(self, name: str) -> None:
        return None


@cache
def _update(model: type[Model], alias: str, names: tuple[str, ...]) -> tuple[str, list[Any]]:
    meta: Any = model._meta
    quoted = connections[alias].ops.quote_name
    fields = [meta.get_field(name) for name in names]
    columns = ", ".join(f"{quoted(field.column)} = %s" for field in fields)
    table, key = quoted(meta.db_table), quoted(meta.pk.column)
    return f"UPDATE {table} SET {columns} WHERE {key} = %s", fields  # noqa: S608 (names of the models)
