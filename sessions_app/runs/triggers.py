"""The turn that a new run answers: a message, or the tool responses that it goes on from."""

import uuid
from functools import partial
from typing import Any
from uuid import UUID

from sessions_app.context.session_texts import COMMAND, expand_command
from sessions_app.errors import RunError, SessionBusy
from sessions_app.models import Attachment, Notification, QueuedMessage, Run, ToolCall, Turn
from sessions_app.prompt.parts import file_of, raw_parts
from sessions_app.prompt.turns import TurnKind, user_task
from sessions_app.runs.attachment_parts import claim_attachments, parts_of
from sessions_app.runs.tool_rounds import close_branch

BUSY = partial(
    SessionBusy,
    "This chat is already answering.",
    hint="Wait for the answer or stop it, then try again.",
)
"""Makes a new one: an exception that is raised again keeps the frames of every time before."""


def task_of_message(run: Run, text: str, files: int, *, waits: bool) -> Turn:
    """`waits`: the message is in the queue, which it leaves."""
    session = run.session
    if waits:
        QueuedMessage.objects.filter(session=session, client_id=run.client_id).delete()
    attached = Attachment.objects.of_message(session.pk, run.client_id) if files or waits else []
    session.set_title_from(text or ", ".join(file.name for file in attached))
    parent = close_branch(run, session.head)
    turn = _add_user_turn(run, text, parent, parts_of(attached, session.head_id))
    if attached:
        claim_attachments(attached, turn)
    return turn


def _add_user_turn(run: Run, text: str, parent: Turn | None, files: list[dict[str, Any]]) -> Turn:
    """The turn of a person's message, with commands of the library expanded."""
    said = run.session.options.message_language
    full = _expanded(run, text, said, parent) if text.startswith(COMMAND) else text
    task = user_task(str(uuid.uuid4()), full, files)
    return Turn.append(run.session, task, parent=parent, run=run, language=said)


def _expanded(run: Run, text: str, said: str, parent: Turn | None) -> str:
    """The text of a command, in the language that `arguments.message_of` gives the message."""
    spoken = said or Turn.objects.language(parent.pk if parent else None)
    return expand_command(run.session, text, run.now, spoken or run.client_language)


def task_of_continuation(run: Run, earlier: Run, text: str) -> Turn:
    head = run.session.head
    if head is None or head.run_id != earlier.pk:
        raise BUSY()
    return Turn.append(run.session, user_task(str(uuid.uuid4()), text), parent=head, run=run)


def task_of_retry(run: Run, earlier: UUID, turn: UUID | None) -> Turn:
    tasks = Turn.objects.filter(session=run.session, kind=TurnKind.USER_TASK)
    named = tasks.filter(public=turn) if turn else tasks.filter(pk__in=_tasks_of(run, earlier))
    trigger = named.select_related("content").first()
    if trigger is None:
        raise RunError("There is no such run to repeat.", hint="Reload the page.")
    run.session.advance(trigger)
    return trigger


def _tasks_of(run: Run, earlier: UUID) -> list[int]:
    """The key of the message that the run `earlier` answers, if both are there."""
    found = Run.objects.filter(session=run.session, public=earlier).select_related("trigger").first()
    return [found.task.pk] if found and found.task else []


def responses_to_resume(run: Run, turn: UUID, repeats_unknown: bool) -> Turn:
    rounds = Turn.objects.filter(session=run.session, kind=TurnKind.TOOL_RESPONSE, public=turn)
    responses = rounds.select_related("content", "parent__content").first()
    if responses is None:
        raise RunError("These tool results are not there any more.", hint="Reload the page.")
    if repeats_unknown and responses.parent_id is not None:
        ToolCall.objects.allow_repeats(responses.parent_id, run.pk)
    run.session.advance(responses)
    return responses


def task_of_edit(run: Run, earlier: UUID, text: str) -> Turn:
    tasks = Turn.objects.filter(session=run.session, kind=TurnKind.USER_TASK)
    replaced = tasks.filter(public=earlier).select_related("parent", "content").first()
    if replaced is None:
        raise RunError("This message is not there any more.", hint="Reload the page.")
    files = [part for part in raw_parts(replaced.wire) if file_of(part) is not None]
    return _add_user_turn(run, text, close_branch(run, replaced.parent), files)


def withdraw(session_pk: int, client_id: UUID) -> None:
    """Removes a queued message."""
    QueuedMessage.objects.filter(session_id=session_pk, client_id=client_id).delete()
    Notification.objects.filter(session_id=session_pk, source=str(client_id)).delete()
