"""Related objects of many rows at once."""

from collections.abc import Sequence
from typing import Any

from django.db.models import ForeignKey, Model


def attach(rows: Sequence[Model], *names: str) -> None:
    """Reads what these foreign keys of the rows, all of one model, refer to: a query for each name.

    `prefetch_related_objects` joins the keys by OR, of which SQLite refuses more than 1,000.
    """
    for name in names if rows else ():
        field: Any = rows[0]._meta.get_field(name)
        assert isinstance(field, ForeignKey)
        keys = {getattr(row, field.attname) for row in rows} - {None}
        found = field.related_model._base_manager.in_bulk(keys)
        for row in rows:
            if (key := getattr(row, field.attname)) in found:
                field.set_cached_value(row, found[key])
