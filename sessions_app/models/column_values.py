"""Values of columns on their way to the database and back, as Django converts them.

How is found out once for each column and type of value: most need no conversion, and others one call. What
is not known here, Django converts.
"""

import json
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from functools import cache
from operator import attrgetter
from typing import Any
from uuid import UUID

import orjson
from django.db.models import (
    BigIntegerField,
    BooleanField,
    CharField,
    DateField,
    DateTimeField,
    DecimalField,
    Field,
    FloatField,
    ForeignKey,
    JSONField,
    Model,
    PositiveIntegerField,
    PositiveSmallIntegerField,
    TextField,
    UUIDField,
)

Convert = Callable[[Any], Any]

TAKEN_AS_THEY_ARE: "dict[type[Field[Any, Any]], type]" = {
    BigIntegerField: int,
    BooleanField: bool,
    CharField: str,
    DecimalField: Decimal,
    FloatField: float,
    ForeignKey: int,
    PositiveIntegerField: int,
    PositiveSmallIntegerField: int,
    TextField: str,
}
"""Fields, and the type of which every database takes values, and None, without a conversion."""

TYPES_LIMIT = 1_000
"""Combinations of types that are remembered for one statement."""


class StoredValues:
    """What a statement takes of a row of a model, for these fields of it."""

    def __init__(self, fields: "Sequence[Field[Any, Any]]") -> None:
        self._fields = fields
        self._read = attrgetter(*(field.attname for field in fields))
        self._set_on_saving = [field for field in fields if getattr(field, "auto_now", False)]
        self._set_on_adding = [field for field in fields if getattr(field, "auto_now_add", False)]
        self._conversions: dict[tuple[type, ...], _Conversions] = {}

    def of(self, row: Model, connection: Any, *, add: bool) -> list[Any]:
        """In the order of the fields; `add` where the row is inserted."""
        for field in (*self._set_on_saving, *(self._set_on_adding if add else ())):
            field.pre_save(row, add)
        values = list(self._read(row)) if len(self._fields) > 1 else [self._read(row)]
        plain, others = self._conversions_of(tuple(map(type, values)), connection.vendor)
        for place, convert in plain:
            values[place] = convert(values[place])
        for place, field in others:
            values[place] = field.get_db_prep_save(values[place], connection)
        return values

    def _conversions_of(self, types: tuple[type, ...], vendor: str) -> "_Conversions":
        known = self._conversions.get(types)
        if known is not None:
            return known
        if len(self._conversions) >= TYPES_LIMIT:
            self._conversions.clear()
        plain, others, writers = [], [], _writers(vendor)
        for place, (field, kind) in enumerate(zip(self._fields, types, strict=True)):
            if kind is type(None) or TAKEN_AS_THEY_ARE.get(type(field)) is kind:
                continue
            convert = None if getattr(field, "encoder", None) else writers.get((type(field), kind))
            if convert is None:
                others.append((place, field))
            else:
                plain.append((place, convert))
        self._conversions[types] = plain, others
        return plain, others


_Conversions = tuple[list[tuple[int, Convert]], "list[tuple[int, Field[Any, Any]]]"]
"""Places of values with what converts them, and of those that their field converts."""


def reader_of(converters: Sequence[Any], expression: Any, connection: Any) -> Convert:
    """What makes the value of an expression of that of its column; `converters` are Django's."""
    field = expression.output_field
    if len(converters) == 1 and not getattr(field, "decoder", None):
        plain = _readers(connection.vendor).get(type(field))
        # A key of a JSON column comes as what it is.
        if plain is not None and not (plain is _json_of and hasattr(expression, "key_name")):
            return plain

    def convert(value: Any) -> Any:
        for one in converters:
            value = one(value, expression, connection)
        return value

    return convert


@cache
def _writers(vendor: str) -> "dict[tuple[type[Field[Any, Any]], type], Convert]":
    """What writes a value, by the type of its field and its own type."""
    if vendor == "sqlite":
        return {
            (DateField, date): str,
            (DateTimeField, datetime): _datetime_text,
            (UUIDField, UUID): _hex,
            (JSONField, dict): json_text,
            (JSONField, list): json_text,
        }
    from psycopg.types.json import Jsonb

    def jsonb(value: Any) -> Jsonb:
        return Jsonb(value, dumps=json_text)

    return {(JSONField, dict): jsonb, (JSONField, list): jsonb}


@cache
def _readers(vendor: str) -> "dict[type[Field[Any, Any]], Convert]":
    if vendor == "sqlite":
        return {DateTimeField: _in_utc, UUIDField: _uuid, BooleanField: _boolean, JSONField: _json_of}
    return {JSONField: _json_of}


def json_text(value: Any) -> str:
    """JSON; what orjson refuses (integers of more than 64 bits, lone surrogates) as Django writes it.

    A number without a form in JSON is null, where Django writes what the database refuses.
    """
    try:
        return orjson.dumps(value, option=_AS_JSON).decode()
    except TypeError:
        return json.dumps(value)


_AS_JSON = orjson.OPT_PASSTHROUGH_DATETIME | orjson.OPT_PASSTHROUGH_DATACLASS


def _json_of(text: str | None) -> Any:
    if text is None:
        return None
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text


def _datetime_text(value: datetime) -> str:
    if value.tzinfo is None:
        raise ValueError(f"{value} says nothing of its time zone.")
    return str((value if value.tzinfo is UTC else value.astimezone(UTC)).replace(tzinfo=None))


def _in_utc(value: datetime | str | None) -> datetime | None:
    if isinstance(value, str):
        value = datetime.fromisoformat(value)
    return value if value is None or value.tzinfo else value.replace(tzinfo=UTC)


def _hex(value: UUID) -> str:
    return value.hex


def _uuid(text: str | None) -> UUID | None:
    return None if text is None else UUID(int=int(text, 16))


def _boolean(value: Any) -> Any:
    return bool(value) if value in (1, 0) else value
