"""Rows that people and the model call by a number: 1, 2, 3 in their session."""

from typing import Any

from django.db import models
from django.db.models import Max


def next_position(rows: "models.QuerySet[Any]", session: models.Model) -> int:
    """The number of the next row of a session; inside a transaction.

    The lock of the session's row puts two that add at once in order. A number that was removed in the
    middle is not given again: calls of one round still mean what they meant.
    """
    type(session)._base_manager.select_for_update(of=("self",)).filter(pk=session.pk).values_list(
        "pk"
    ).first()
    last = rows.filter(session=session).aggregate(last=Max("position"))["last"]
    return (last or 0) + 1
