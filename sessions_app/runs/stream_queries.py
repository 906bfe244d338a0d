"""What a process reads for the sessions and runs that it streams; the queries of polls are few however many
these are.
"""

from collections.abc import Collection, Iterable
from typing import Any

from django.db.models import BigIntegerField, CharField, QuerySet

from sessions_app.models import QueuedMessage, Run, Session
from sessions_app.models.prepared import Parameter, Reading
from sessions_app.models.prepared_keys import ReadingOf
from sessions_app.runs.background import readable
from sessions_app.runs.request.session_reading import SESSION


def newest_run_and_queue(session_pk: int) -> tuple[int, list[QueuedMessage]]:
    """The newest run that is over, 0 without one, and the messages that wait.

    An active run is not asked for: it is sent from its first event.
    """
    newest = _newest_over.first(session=session_pk)
    return newest[0] if newest else 0, queue_of(session_pk)


def queue_of(session_pk: int) -> list[QueuedMessage]:
    """The messages that wait, oldest first."""
    return _queue.all(session=session_pk)


def runs_to_stop(runs: Collection[int]) -> set[int]:
    """Those of the runs that somebody else stopped, ended or erased, whose chat was deleted, or whose person
    may no longer use the system.
    """
    return {*runs} - {pk for (pk,) in _to_go_on.all(runs)}


def newer_runs(sessions: Collection[int], floor: int, process: str) -> list[Run]:
    """Runs of other processes with a larger key than `floor`, oldest first, without damaged ones."""
    found = [pk for (pk,) in _newer.all(sessions, floor=floor, process=process)]
    return readable(Run.objects.filter(pk__in=found).order_by("pk"), "run_not_read") if found else []


def queues_of(sessions: Collection[int]) -> dict[int, list[QueuedMessage]]:
    """The queue of each session, without messages that are damaged."""
    queues: dict[int, list[QueuedMessage]] = {pk: [] for pk in sessions}
    found = {pk for (pk,) in _queued.all(sessions)}
    waiting = QueuedMessage.objects.filter(session_id__in=found)
    for message in readable(waiting, "message_not_read") if found else ():
        queues[message.session_id].append(message)
    return queues


def head_versions(sessions: Collection[int]) -> dict[int, int]:
    """How often the branch in view of each session has changed (`Session.head_version`)."""
    return dict(_heads.all(sessions))


def _of_newest_over() -> QuerySet[Run, Any]:
    over = Run.objects.filter(session=SESSION).exclude(status__in=Run.ACTIVE)
    return over.order_by("-pk").values_list("pk")[:1]


def _going_on_of(runs: Iterable[Any]) -> QuerySet[Run, Any]:
    return Run.objects.wanted().filter(pk__in=runs).values_list("pk")


def _newer_of(sessions: Iterable[Any]) -> QuerySet[Run, Any]:
    newer = Run.objects.filter(session__pk__in=sessions, pk__gt=Parameter("floor", BigIntegerField()))
    # A run of this process is stored shortly before it is in the stream.
    return newer.exclude(process=Parameter("process", CharField())).values_list("pk")


def _queued_of(sessions: Iterable[Any]) -> QuerySet[QueuedMessage, Any]:
    return QueuedMessage.objects.filter(session__pk__in=sessions).order_by().values_list("session_id")


def _heads_of(sessions: Iterable[Any]) -> QuerySet[Session, Any]:
    return Session.objects.filter(pk__in=sessions).values_list("pk", "head_version")


_newest_over: Reading[tuple[int]] = Reading(_of_newest_over)
_queue: Reading[QueuedMessage] = Reading(lambda: QueuedMessage.objects.filter(session=SESSION))
_to_go_on: ReadingOf[tuple[int]] = ReadingOf(_going_on_of)
_newer: ReadingOf[tuple[int]] = ReadingOf(_newer_of)
_queued: ReadingOf[tuple[int]] = ReadingOf(_queued_of)
_heads: ReadingOf[tuple[int, int]] = ReadingOf(_heads_of)
