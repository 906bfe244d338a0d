"""The session as a request needs it."""

from typing import Any

from django.db.models import BigIntegerField, Exists, OuterRef

from sessions_app.errors import RunEnded
from sessions_app.models import Notification, Run, Session
from sessions_app.models.prepared import Parameter, Reading
from sessions_app.models.run import RUN

SESSION = Parameter("session", BigIntegerField())


def session_of(run: Run) -> Any:
    """The annotated session of an active run: what the stages mark in it they mark for that run.

    Raises RunEnded.
    """
    session = _sessions.first(session=run.session_id, run=run.pk)
    if session is None:
        raise RunEnded
    return session


def _session_query() -> Any:
    active = Session.objects.filter(pk=SESSION, runs=RUN, runs__status__in=Run.ACTIVE)
    return with_request_facts(active).select_related("assistant")


_sessions: Reading[Any] = Reading(_session_query)


def with_request_facts(sessions: Any) -> Any:
    """Annotates what saves a request from asking in vain."""
    return sessions.annotate(
        has_notifications=Exists(Notification.objects.open().filter(session=OuterRef("pk"))),
    )
