"""Searches of long lists: a word is looked up where few rows are, and found by an index of the list's table.

The default of Django compares every row of the list with the word.
"""

from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.db.models import Q, QuerySet

from sessions_app.admin.bounded_list import COUNTED
from sessions_app.context.model_lookup import model_names
from sessions_app.models import Exchange, Session

PEOPLE = 1_000
"""The most people who are found by a part of their names."""

SHORTEST = 4
"""Digits of a public id that are looked for."""

DIGITS = 32


def search(rows: QuerySet[Any], fields: Sequence[str], words: str) -> QuerySet[Any]:
    """The rows in which each word is found in one of the fields."""
    for word in words.split():
        found = Q()
        for place in (_in_field(field, word) for field in fields):
            found |= place
        rows = rows.filter(found) if found else rows.none()
    return rows


def _in_field(field: str, word: str) -> Q:
    """An empty Q where no row can have it."""
    path, _, name = field.rpartition("__")
    if name == "username":
        people = User.objects.filter(username__icontains=word).values_list("pk", flat=True)[:PEOPLE]
        return of_people(path, list(people))
    if name == "public":
        return _of_public(path, word)
    if name in ("model", "served_model"):
        return _some(f"{field}__in", (known for known in model_names() if word.lower() in known))
    return Q(**{field.removeprefix("="): word})


def of_people(path: str, people: Iterable[int]) -> Q:
    """Rows of these people; `path` is the way from a row to its owner."""
    before = path.removesuffix("owner").removesuffix("__")
    if not before:
        return _some("owner__in", people)
    keys = list(people)
    return _in_sessions(before, Session.objects.filter(owner__in=keys)) if keys else Q()


def _of_public(path: str, word: str) -> Q:
    span = span_of(word)
    if span is None:
        return Q()
    return _in_sessions(path, Session.objects.filter(public__range=span)) if path else Q(public__range=span)


def _in_sessions(path: str, sessions: QuerySet[Session]) -> Q:
    of_sessions = sessions.order_by().values("pk")
    if path == "exchange__session":
        # The newest chunks are those of the newest exchanges.
        exchanges = Exchange.objects.filter(session__in=of_sessions).order_by("-pk").values("pk")[:COUNTED]
        return Q(exchange__in=exchanges)
    return Q(**{f"{path}__in": of_sessions})


def _some(lookup: str, values: Iterable[Any]) -> Q:
    found = list(values)
    return Q(**{lookup: found}) if found else Q()


def span_of(word: str) -> tuple[UUID, UUID] | None:
    """The first and the last public id that begin with these digits; None where they are none."""
    digits = word.replace("-", "").lower()
    if not SHORTEST <= len(digits) <= DIGITS or digits.strip("0123456789abcdef"):
        return None
    return UUID(digits.ljust(DIGITS, "0")), UUID(digits.ljust(DIGITS, "f"))
