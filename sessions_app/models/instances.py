"""Instances of models for the rows of every turn, as `Model.__init__` and `from_db` make them, for less work.

`pre_init` and `post_init` are not sent; nothing here listens to them.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any, NamedTuple, TypeVar

from django.db.models import Model
from django.db.models.base import ModelState

Row = TypeVar("Row", bound=Model)


def new(model: type[Row], /, **values: Any) -> Row:
    """As `model(**values)`, for values of columns and instances of relations. Raises TypeError for others."""
    shape, row, state = _shape(model), model.__new__(model), ModelState()
    columns: dict[str, Any] = row.__dict__
    columns["_state"] = state
    columns.update(shape.plain)
    for name, make in shape.made:
        columns[name] = make()
    for name, value in values.items():
        if name in columns:
            columns[name] = value
        elif (attname := shape.relations.get(name)) is not None:
            columns[attname] = None if value is None else value.pk
            state.fields_cache[name] = value
            state.db = state.db or (value and value._state.db)
        else:
            raise TypeError(f"{model.__name__} has no column and no relation {name!r}.")
    return row


def loaded(model: type[Row], alias: str, names: Iterable[str], values: Sequence[Any]) -> Row:
    """As `model.from_db`: a stored row of which these columns have been read, in any order."""
    row, state = model.__new__(model), ModelState()
    state.adding, state.db = False, alias
    row.__dict__.update(zip(names, values, strict=True), _state=state)
    return row


class _Shape(NamedTuple):
    """The columns with their defaults, those of which are made for each row apart; relation → its column."""

    plain: dict[str, Any]
    made: list[tuple[str, Callable[[], Any]]]
    relations: dict[str, str]


@cache
def _shape(model: type[Model]) -> _Shape:
    fields = model._meta.concrete_fields
    made = {
        field.attname: field.get_default
        for field in fields
        if field.has_default() and callable(field.default)
    }
    return _Shape(
        {field.attname: None if field.attname in made else field.get_default() for field in fields},
        list(made.items()),
        {field.name: field.attname for field in fields if field.is_relation},
    )
