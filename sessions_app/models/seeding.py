"""Rows of the catalogue in a database: each is added once; what an admin changed or deleted stays so."""

from collections.abc import Sequence
from typing import Any

from django.apps.registry import Apps
from django.db import transaction


def add_new_rows(
    using: str, apps: Apps, *, table: str, remembered: str, rows: Sequence[dict[str, Any]]
) -> None:
    """Adds the rows that `remembered` does not know by `model` and `valid_from`."""
    try:
        target = apps.get_model("sessions_app", table).objects.using(using)
        seeded = apps.get_model("sessions_app", remembered).objects.using(using)
    except LookupError:  # migrated back to before these tables
        return
    known = set(seeded.values_list("model", "valid_from"))
    new = [row for row in rows if (row["model"], row["valid_from"]) not in known]
    marks = [seeded.model(model=row["model"], valid_from=row["valid_from"]) for row in new]
    with transaction.atomic(using=using):
        target.bulk_create([target.model(**row) for row in new], ignore_conflicts=True)
        seeded.bulk_create(marks, ignore_conflicts=True)
