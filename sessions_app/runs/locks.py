"""Locks of rows that several steps take, in one order. Of two that wait for each other PostgreSQL ends one.

The order: the person, the run, explicit caches, the session, the sums of a day. A request that reserves
money locks the person first (`budgets.Spender.lock`), a reply is recorded with the run held
(`RunQuerySet.hold`).
SQLite has no locks of rows, and needs none: its transactions begin with the lock on the database.
"""

from typing import Any

from django.contrib.auth.models import User
from django.db import connection
from django.db.models import BigIntegerField

from sessions_app.models import Session
from sessions_app.models.prepared import Parameter, Reading


def lock_owner(session_pk: int) -> None:
    """Inside a transaction: the person of this session."""
    if connection.features.has_select_for_update:
        _owner.first(session=session_pk)


def lock_session(session_pk: int) -> None:
    """The same of the session itself, after its person."""
    if connection.features.has_select_for_update:
        _owner.first(session=session_pk)
        _session.first(session=session_pk)


_SESSION = Parameter("session", BigIntegerField())


def _locking_owner() -> Any:
    owner = Session.objects.filter(pk=_SESSION).values("owner")
    return User.objects.select_for_update(no_key=True).filter(pk__in=owner).values_list("pk")


def _locking_session() -> Any:
    return Session.objects.select_for_update(no_key=True).filter(pk=_SESSION).values_list("pk")


_owner: Reading[Any] = Reading(_locking_owner)
_session: Reading[Any] = Reading(_locking_session)
