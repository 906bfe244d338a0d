"""Creates runs and their triggers: send, retry, resume, edit, queued message, continuation."""

import uuid
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import BigIntegerField, OuterRef, Subquery
from django.utils import timezone

from sessions_app.context.model_lookup import model_names
from sessions_app.context.personal_limits import WAITING, active_runs, activity_of, check_runs, check_send
from sessions_app.errors import OverLimit, RunError, SessionBusy
from sessions_app.models import Attachment, Notification, QueuedMessage, Run, Session
from sessions_app.models.instances import new
from sessions_app.models.notification import PREVIEW
from sessions_app.models.prepared import Parameter, Reading, insert, update
from sessions_app.runs.limits import notify_limit
from sessions_app.runs.locks import lock_owner, lock_session
from sessions_app.runs.once import is_known, once
from sessions_app.runs.request.session_reading import with_request_facts
from sessions_app.runs.triggers import (
    BUSY,
    responses_to_resume,
    task_of_continuation,
    task_of_edit,
    task_of_message,
    task_of_retry,
)

QUEUE_LIMIT = 20
"""Queued messages of one session."""

TRIES = 5
"""How often a message is begun that finds its session busy, and then free again."""


def start_send(
    session_pk: int,
    client_id: UUID,
    text: str,
    process: str,
    language: str = "",
    *,
    files: Collection[UUID] = (),
) -> Run | None:
    """A run for a message below the head; None when it was queued or `client_id` is known.

    `language` is the browser's, by default that of the last run. `files` are attachments of the session.
    Raises RunError when the queue is full or a file is missing, OverLimit.
    """
    if files:
        if is_known(session_pk, client_id):
            return None
        Attachment.objects.claim(session_pk, files, client_id)
    return _send(session_pk, client_id, text, process, language=language, files=len(files))


def _send(
    session_pk: int,
    client_id: UUID,
    text: str,
    process: str,
    *,
    files: int,
    language: str = "",
    queued_at: datetime | None = None,
) -> Run | None:
    """`files` is the number of attachments claimed for the message."""
    conflict: SessionBusy | None = None
    for _ in range(TRIES):
        try:
            with _new_run(session_pk, client_id, process, language=language, sent_at=queued_at) as (
                run,
                waits,
            ):
                run.trigger = task_of_message(run, text, files, waits=waits)
            return run
        except SessionBusy as busy:
            conflict = busy
            if is_known(session_pk, client_id):
                return None
            is_queued = _queue(session_pk, client_id, text, files)
        except OverLimit:
            if is_known(session_pk, client_id):
                return None
            raise
        # The active run may have ended before the message was queued, and another one may have begun since.
        if is_queued and Run.objects.active_in(session_pk) is not None:
            return None
    # No run was active: the rows conflict in another way, which trying again does not mend.
    raise RunError("This message could not be begun.", hint="Send it again.") from conflict


@once
def start_retry(
    session_pk: int,
    client_id: UUID,
    earlier: UUID,
    process: str,
    turn: UUID | None = None,
    *,
    model: str = "",
) -> Run:
    """A run for the trigger of the run `earlier`; its answer is a sibling of the earlier one.

    `turn` is the trigger's copy in the branch in view, if any. `model` answers, by default that of the
    session. Raises SessionBusy, OverLimit, RunError.
    """
    if model and model not in model_names():
        raise RunError("This model is not known here.", hint="Choose one of the list.")
    with _new_run(session_pk, client_id, process, model=model) as (run, _):
        run.trigger = task_of_retry(run, earlier, turn)
    return run


@once
def start_resume(
    session_pk: int, client_id: UUID, turn: UUID, process: str, *, repeats_unknown: bool = False
) -> Run:
    """A run that goes on from the tool responses `turn`; its answer stands below them.

    It first runs the calls that did not begin and, with `repeats_unknown`, those of which it is unknown
    whether they ran. Raises SessionBusy, OverLimit, RunError.
    """
    with _new_run(session_pk, client_id, process) as (run, _):
        run.trigger = responses_to_resume(run, turn, repeats_unknown)
    return run


@once
def start_edit(session_pk: int, client_id: UUID, turn: UUID, text: str, process: str) -> Run:
    """A run for a new version of a message, a sibling of `turn`. Raises SessionBusy, OverLimit, RunError."""
    with _new_run(session_pk, client_id, process) as (run, _):
        run.trigger = task_of_edit(run, turn, text)
    return run


def start_next(session_pk: int, process: str) -> Run | None:
    """A run for the oldest queued message, if there is one and no run is active.

    None too when the person has too many runs: the message goes on waiting.
    """
    waiting = QueuedMessage.objects.filter(
        session_id=session_pk, session__deleted_at=None, session__owner__is_active=True
    )
    message = waiting.first()
    if message is None:
        return None
    client_id, text = message.client_id, message.text
    try:
        return _send(session_pk, client_id, text, process, files=message.files, queued_at=message.queued_at)
    except OverLimit:
        return None


def start_continuation(earlier: Run, text: str, process: str) -> Run | None:
    """An automatic run after `earlier`, whose trigger is `text`.

    None when another run or branch is active, when this run exists, or, with a notification, when the person
    has too many runs.
    """
    session_pk, client_id = earlier.session_id, uuid.uuid5(earlier.public, "continuation")
    try:
        with _new_run(
            session_pk,
            client_id,
            process,
            language=earlier.client_language,
            model=earlier.model,
            is_automatic=True,
        ) as (run, _):
            run.continuations, run.began = earlier.continuations + 1, earlier.began
            run.trigger = task_of_continuation(run, earlier, text)
    except OverLimit as error:
        notify_limit(earlier, error)
        return None
    except RunError:
        return None
    return run


@contextmanager
def _new_run(
    session_pk: int,
    client_id: UUID,
    process: str,
    *,
    language: str = "",
    model: str = "",
    sent_at: datetime | None = None,
    is_automatic: bool = False,
) -> Iterator[tuple[Run, bool]]:
    """A new run whose trigger the block sets, in one transaction with session and owner locked.

    With it comes whether its message waits in the queue.

    It asks `model`, by default that of the session, whatever is chosen while it runs. `sent_at` is set for a
    message that was counted when it was queued. Raises SessionBusy, also by the constraint of the database,
    OverLimit, and RunError for a deleted session.
    """
    try:
        with transaction.atomic():
            session, now = _lock_session(session_pk), timezone.now()
            is_counted = is_automatic or sent_at is not None
            waits = _check_limits(session, client_id, now, is_send=not is_counted)
            run = new(
                Run,
                session=session,
                client_id=client_id,
                status=Run.Status.RUNNING,
                process=process,
                model=model or session.model,
                thinking_level=session.options.thinking_level,
                client_language=language or session.last_language or "",
                sent_at=None if is_automatic else sent_at or now,
            )
            yield insert(run), waits
            update(run, "trigger", "continuations")
    except IntegrityError as error:
        raise BUSY() from error


def _lock_session(session_pk: int) -> Any:
    """The session with its owner, annotated with the browser language of its newest run as `last_language`,
    and as the first request of the run needs it.

    The lock on the owner makes the runs of one person begin one after another (`personal_limits`). Raises
    RunError for a deleted session.
    """
    # What a statement joins to a row that it had to wait for is as it was before: the head too.
    lock_session(session_pk)
    session = _read.first(session=session_pk)
    if session is None:
        raise RunError("This chat has been deleted.", hint="Start a new one.")
    return session


_SESSION = Parameter("session", BigIntegerField())


def _reading() -> Any:
    spoken = Run.objects.filter(session=OuterRef("pk")).order_by("-pk").values("client_language")[:1]
    rows: Any = with_request_facts(Session.objects.select_related("head", "owner", "assistant"))
    found = rows.filter(pk=_SESSION, deleted_at=None, owner__is_active=True)
    return found.annotate(last_language=Subquery(spoken))


_read: Reading[Any] = Reading(_reading)


def _check_limits(session: Session, client_id: UUID, now: datetime, *, is_send: bool) -> bool:
    """Whether the message waits in the queue. Raises SessionBusy, OverLimit."""
    activity = activity_of(session.owner_id, now)
    if any(row.session == session.pk and row.status in Run.ACTIVE for row in activity):
        raise BUSY()
    if is_send:
        check_send(session.owner_id, activity, client_id, now)
    check_runs(session.owner_id, active_runs(activity))
    return any(row.status == WAITING and row.client_id == client_id for row in activity)


@transaction.atomic
def _queue(session_pk: int, client_id: UUID, text: str, files: int) -> bool:
    """Whether the message waits now for the end of a run."""
    lock_owner(session_pk)
    # Held, the run ends after the message is stored, and its end sees it; else the message needs no queue.
    if not Run.objects.active().filter(session_id=session_pk).select_for_update(no_key=True).exists():
        return False
    owner_id = _lock_session(session_pk).owner_id
    waiting = QueuedMessage.objects.filter(session_id=session_pk)
    if waiting.exclude(client_id=client_id).count() >= QUEUE_LIMIT:
        raise RunError(f"{QUEUE_LIMIT} messages wait already.", hint="Wait for an answer, or withdraw one.")
    facts = {"text": text, "files": files}
    _, is_new = waiting.get_or_create(client_id=client_id, session_id=session_pk, defaults=facts)
    if is_new:
        now = timezone.now()
        check_send(owner_id, activity_of(owner_id, now), client_id, now)
        kind = Notification.Kind.USER_MESSAGE
        Notification.objects.add(session_pk, kind, text[:PREVIEW], source=str(client_id))
    return True
