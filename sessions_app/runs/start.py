"""How a run comes into being: checked, recorded and idempotent before anything is sent."""

import uuid
from collections.abc import Callable, Collection
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import OuterRef, Subquery

from sessions_app.context.commands import expand
from sessions_app.errors import RunError, SessionBusy
from sessions_app.models import Attachment, Notification, QueuedMessage, Run, Session, Turn
from sessions_app.models.notification import PREVIEW
from sessions_app.prompt.media import file_of
from sessions_app.prompt.turns import TurnKind, raw_parts, user_task
from sessions_app.runs.filing import hand_over, parts_of
from sessions_app.runs.showing import shown_files

QUEUE_LIMIT = 20
"""Messages that may wait in one session."""

BUSY = SessionBusy(
    "This session is already answering.", hint="Wait for the answer or stop it, then try again."
)


def start_send(
    session_pk: int,
    client_id: UUID,
    text: str,
    process: str,
    language: str = "",
    *,
    files: Collection[UUID] = (),
) -> Run | None:
    """A new run for a user task below the head; None when the message was queued or is known already.

    `language` is the browser's; empty means the one it had last. `files` are attachments of the session.
    Raises RunError when too many messages wait, or when a file is not there.
    """
    if files:
        if _is_known(session_pk, client_id):
            return None
        Attachment.objects.claim(session_pk, files, client_id)
    return _send(session_pk, client_id, text, process, language=language, files=len(files))


def _send(
    session_pk: int, client_id: UUID, text: str, process: str, *, files: int, language: str = ""
) -> Run | None:
    """The attachments of the message are those that were claimed for it; `files` says how many."""
    while True:
        try:
            facts = {"client_language": language} if language else {}
            return _begin(session_pk, client_id, process, lambda run: _new_task(run, text, files), **facts)
        except SessionBusy:
            if _is_known(session_pk, client_id):
                return None
            _queue(session_pk, client_id, text, files)
        # The run may have ended before it could see the message that waits for its end.
        if Run.objects.active_in(session_pk) is not None:
            return None


def start_retry(
    session_pk: int, client_id: UUID, earlier: UUID, process: str, turn: UUID | None = None
) -> Run | None:
    """A run that answers an earlier run's trigger once more, as a sibling of the earlier answer.

    `turn` is that trigger as the branch in view has it: a rewritten branch holds a copy. None when the
    client id is known already. Raises SessionBusy, RunError.
    """
    if _is_known(session_pk, client_id):
        return None
    return _begin(session_pk, client_id, process, lambda run: _same_task(run, earlier, turn))


def start_edit(session_pk: int, client_id: UUID, turn: UUID, text: str, process: str) -> Run | None:
    """A run for other words in the place of an earlier message: a sibling of that message.

    None when the client id is known already. Raises SessionBusy, RunError.
    """
    if _is_known(session_pk, client_id):
        return None
    return _begin(session_pk, client_id, process, lambda run: _reworded_task(run, turn, text))


def start_next(session_pk: int, process: str) -> Run | None:
    """A run for the oldest waiting message, if there is one and the session is free."""
    waiting = QueuedMessage.objects.filter(session_id=session_pk, session__deleted_at=None)
    message = waiting.first()
    if message is None:
        return None
    return _send(session_pk, message.client_id, message.text, process, files=message.files)


def start_continuation(earlier: Run, text: str, process: str) -> Run | None:
    """A run that nobody asked for, after the answer of `earlier`; its trigger says what it is.

    None when a person was quicker, when another branch came into view, or when it began already.
    """
    client_id = uuid.uuid5(earlier.public, "continuation")
    count = earlier.continuations + 1
    try:
        return _begin(
            earlier.session_id,
            client_id,
            process,
            lambda run: _own_task(run, earlier, text),
            continuations=count,
            client_language=earlier.client_language,
        )
    except RunError:
        return None


def _is_known(session_pk: int, client_id: UUID) -> bool:
    return Run.objects.filter(session_id=session_pk, client_id=client_id).exists()


def _begin(
    session_pk: int, client_id: UUID, process: str, find_trigger: Callable[[Run], Turn], **facts: Any
) -> Run:
    """Raises SessionBusy: the constraint of the database decides, whatever raced."""
    try:
        with transaction.atomic():
            session = _locked(session_pk)
            facts = {"client_language": session.said_in or "", **facts}
            run = Run.objects.create(
                session=session, client_id=client_id, status=Run.Status.RUNNING, process=process, **facts
            )
            run.trigger = find_trigger(run)
            run.save(update_fields=["trigger"])
            return run
    except IntegrityError as error:
        raise BUSY from error
    except Session.DoesNotExist as error:
        raise RunError("This session has been deleted.", hint="Start a new one.") from error


def _locked(session_pk: int) -> Any:
    """The session, with the browser's language of its newest run as `said_in`."""
    spoken = Run.objects.filter(session=OuterRef("pk")).order_by("-pk").values("client_language")[:1]
    rows = Session.objects.select_for_update(of=("self",)).select_related("head")
    return rows.annotate(said_in=Subquery(spoken)).get(pk=session_pk, deleted_at=None)


def _new_task(run: Run, text: str, files: int) -> Turn:
    session = run.session
    waited, _ = QueuedMessage.objects.filter(session=session, client_id=run.client_id).delete()
    has_files = files or waited
    attached = Attachment.objects.going_with(session.pk, run.client_id) if has_files else []
    session.entitle(text or ", ".join(file.name for file in attached))
    turn = _person_says(run, text, session.head, parts_of(attached, session.head_id))
    if attached:
        hand_over(attached, turn)
    return turn


def _person_says(run: Run, text: str, parent: Turn | None, files: list[dict[str, Any]]) -> Turn:
    """The turn of a person's message; a command of the library stands there in full."""
    said_in = run.session.options.message_language
    full = expand(run.session, text, run.now, said_in or run.client_language)
    task = user_task(str(uuid.uuid4()), full, files)
    run.files_html = shown_files(run.session, task) if files else ""
    return Turn.grow(run.session, task, parent=parent, run=run, language=said_in)


def _own_task(run: Run, earlier: Run, text: str) -> Turn:
    head = run.session.head
    if head is None or head.run_id != earlier.pk:
        raise BUSY
    return Turn.grow(run.session, user_task(str(uuid.uuid4()), text), parent=head, run=run)


def _same_task(run: Run, earlier: UUID, turn: UUID | None) -> Turn:
    tasks = Turn.objects.filter(session=run.session, kind=TurnKind.USER_TASK)
    named = tasks.filter(public=turn) if turn else tasks.filter(triggered__public=earlier)
    trigger = named.select_related("content").first()
    if trigger is None:
        raise RunError("There is no such run to repeat.", hint="Reload the page.")
    run.session.advance(trigger)
    run.files_html = shown_files(run.session, trigger.value)
    return trigger


def _reworded_task(run: Run, earlier: UUID, text: str) -> Turn:
    tasks = Turn.objects.filter(session=run.session, kind=TurnKind.USER_TASK)
    replaced = tasks.filter(public=earlier).select_related("parent", "content").first()
    if replaced is None:
        raise RunError("This message is not there any more.", hint="Reload the page.")
    files = [part for part in raw_parts(replaced.wire) if file_of(part) is not None]
    return _person_says(run, text, replaced.parent, files)


def _queue(session_pk: int, client_id: UUID, text: str, files: int) -> None:
    waiting = QueuedMessage.objects.filter(session_id=session_pk)
    if waiting.exclude(client_id=client_id).count() >= QUEUE_LIMIT:
        raise RunError(f"{QUEUE_LIMIT} messages wait already.", hint="Wait for an answer, or withdraw one.")
    facts = {"text": text, "files": files}
    _, is_new = waiting.get_or_create(client_id=client_id, session_id=session_pk, defaults=facts)
    if is_new:
        kind = Notification.Kind.USER_MESSAGE
        Notification.objects.note(session_pk, kind, text[:PREVIEW], source=str(client_id))
