"""Values for columns."""

from math import isfinite
from typing import Any

from django.db.models import CharField, Func

from sessions_app.prompt.wire import well_formed


class ErrorKind(Func):
    """The kind of an error in a JSON column, in the one form that an index of it is made of and found by."""

    output_field = CharField()

    def as_sqlite(self, compiler: Any, connection: Any, **extra: Any) -> Any:
        return self.as_sql(compiler, connection, template="JSON_EXTRACT(%(expressions)s, '$.kind')", **extra)

    def as_postgresql(self, compiler: Any, connection: Any, **extra: Any) -> Any:
        return self.as_sql(compiler, connection, template="(%(expressions)s ->> 'kind')", **extra)


def storable(text: str, length: int | None = None) -> str:
    """Text without NUL and lone surrogates, cut to `length` characters.

    PostgreSQL refuses NUL in text and in JSON alike; a lone surrogate has no form in UTF-8.
    """
    return well_formed(text.replace("\0", ""))[:length]


def storable_json(value: Any) -> Any:
    """JSON of storable texts, without numbers that JSON has no form for, which databases refuse."""
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, dict):
        return {storable(key): storable_json(item) for key, item in value.items()}
    if isinstance(value, list):
        return [storable_json(item) for item in value]
    return None if isinstance(value, float) and not isfinite(value) else value
