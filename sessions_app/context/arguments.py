"""The prompt arguments of a session, and the time that a run shows the model."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django.utils import timezone

from sessions_app.models import Run, Session, SessionSettings, Turn
from sessions_app.prompt.arguments import (
    Arguments,
    AssistantArguments,
    ConversationArguments,
    MessageArguments,
    build_arguments,
)
from sessions_app.prompt.clock import rounded_down
from sessions_app.prompt.remarks import Remark, RemarkCode
from sessions_app.prompt.templates import Rendered, Unrendered, is_template
from sessions_app.rendering.renderer import RenderTime, renderer

Render = Callable[[Sequence[Unrendered]], Sequence[Rendered]]
"""Renders texts of a session."""


def arguments_of(
    session: Session, message: MessageArguments, now: datetime, time: RenderTime | None = None
) -> Arguments:
    """The arguments for one run; the assistant's description is a template over the others."""
    found = build_arguments(now, _assistant(session), _conversation(session), message, session.args)
    if session.installed_assistant is None:
        return found
    text = Unrendered(session.installed_assistant.description)
    (description,) = renderer().render([text], found.values, owner=session.owner_id, time=time)
    if description.status == "plain":
        return found
    written = replace(_assistant(session) or AssistantArguments("", ""), description=description.text)
    found = build_arguments(now, written, _conversation(session), message, session.args)
    if description.status == "rendered":
        return replace(found, described=description.uses if _is_told(found, description.text) else ())
    failed = Remark(code=RemarkCode.DESCRIPTION_FELL_BACK, **description.failure_figures())
    return replace(found, remarks=(*found.remarks, failed))


def arguments_now(session: Session) -> Arguments:
    """The arguments of a request that would be sent now for the newest message."""
    newest = session.runs.select_related("trigger").order_by("-pk").first()
    message = message_of(newest, Turn.objects.language(session.head_id))
    return arguments_of(session, message, timezone.now())


def rendering_of(
    session: Session, values: Callable[[], Mapping[str, Any]], time: RenderTime | None = None
) -> Render:
    """`values` gives the arguments; it is called only for a text that is a template."""

    def render(texts: Sequence[Unrendered]) -> Sequence[Rendered]:
        found = values() if any(is_template(one.text) for one in texts) else {}
        return renderer().render(texts, found, owner=session.owner_id, time=time)

    return render


def message_of(run: Run | None, spoken: str = "") -> MessageArguments:
    """The run's message, in the language said of it or of the newest message before it that has one
    (`spoken`), else the browser's, else unknown (seed 3, "Language precedence").
    """
    if run is None or run.task is None:
        return MessageArguments()
    language = run.task.language or spoken or run.client_language
    return MessageArguments(run.task.whole_text, language)


def _assistant(session: Session) -> AssistantArguments | None:
    row = session.installed_assistant
    return AssistantArguments(row.name, str(row.pk), row.language, row.description) if row else None


def _is_told(found: Arguments, description: str) -> bool:
    """Whether the description stands in the map; the session's arguments may have another."""
    told = found.values["assistant"]
    return isinstance(told, Mapping) and told.get("description") == description


def _conversation(session: Session) -> ConversationArguments:
    return ConversationArguments(
        id=str(session.pk),
        identifier=str(session.public),
        created=session.created_at,
        updated=session.updated_at,
    )


def rounded_time(now: datetime, options: SessionSettings) -> datetime:
    """`now` in the person's time zone, rounded down to `clock_minutes`."""
    return rounded_down(now, time_zone(options.time_zone), options.clock_minutes)


def time_zone(name: str) -> ZoneInfo:
    """The zone of this name; UTC for a name that is none, which a file may have brought."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return ZoneInfo("UTC")
