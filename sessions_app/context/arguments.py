"""The prompt arguments of a session, from its rows."""

from dataclasses import replace
from datetime import datetime

from sessions_app.models import Run, Session
from sessions_app.prompt.arguments import Arguments, Assistant, Conversation, Message, build
from sessions_app.prompt.templates import render


def arguments_of(session: Session, message: Message, now: datetime) -> Arguments:
    """The map for one run; the assistant's description is a template over the rest of it."""
    found = build(now, _assistant(session), _conversation(session), message, session.args)
    if session.assistant is None:
        return found
    description = render(session.assistant.description, found.values)
    if description.status == "plain":
        return found
    written = replace(_assistant(session) or Assistant("", ""), description=description.text)
    found = build(now, written, _conversation(session), message, session.args)
    if description.status == "rendered":
        return found
    line = f"The assistant's description is used as it was written: {description.reason}."
    return replace(found, reports=(*found.reports, line))


def message_of(run: Run | None) -> Message:
    """What the run answers: its stored trigger, also while it answers tools.

    The language is what was said of the message, else the browser's, else unknown.
    """
    if run is None or run.trigger is None:
        return Message()
    return Message(run.trigger.text, run.trigger.language or run.client_language)


def _assistant(session: Session) -> Assistant | None:
    row = session.assistant
    return Assistant(row.name, str(row.pk), row.language, row.description) if row else None


def _conversation(session: Session) -> Conversation:
    return Conversation(
        id=str(session.pk),
        identifier=str(session.public),
        created=session.created_at,
        updated=session.updated_at,
    )
