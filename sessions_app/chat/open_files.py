"""The files that are open for the model, as the composer lists them and messages name them."""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from django.db.models import F, Subquery
from django.http import HttpResponse
from django_htmx.http import trigger_client_event

from sessions_app.context.workspaces import workspace_of
from sessions_app.models import Reference, Session, Turn
from sessions_app.panels.file_pages import problem_of
from sessions_app.panels.kinds.files import FileReferences
from sessions_app.wording import uploads


class OpenFileChip(NamedTuple):
    path: str
    problem: str
    """Why it is not sent, as far as that is known without reading it."""


def open_files(session: Session) -> Sequence[OpenFileChip]:
    """In the order in which they were opened. None while their panel is off: none is sent then."""
    if not FileReferences().is_on(session.options):
        return ()
    paths = session.references.filter(enabled=True).values_list("path", flat=True)
    workspace = workspace_of(session.owner_id)
    return tuple(OpenFileChip(path, problem_of(workspace, path)) for path in paths)


class OpenedFile(NamedTuple):
    """A file that was opened before a message and after the turn before it."""

    path: str
    is_open: bool
    """Whether it is open now; else it was closed since, and perhaps before the message was sent."""

    @property
    def words(self) -> str:
        return uploads.opened(self.path, is_open=self.is_open)


def opened_with(turns: Sequence[Turn]) -> Mapping[int, tuple[OpenedFile, ...]]:
    """Files by primary key of the message, for turns of one branch that follow each other. One query.

    Not of copied turns, which are younger than their files, nor of files that were opened during an answer.
    """
    if not turns:
        return {}
    before = Turn.objects.filter(children=turns[0].pk).values("created_at")[:1]
    rows = Reference.objects.filter(session=turns[0].session_id).annotate(
        begun=F("session__created_at"), before=Subquery(before)
    )
    times = [turn.created_at for turn in turns]
    found: dict[int, tuple[OpenedFile, ...]] = {}
    for path, is_open, at, begun, parent_at in rows.values_list(
        "path", "enabled", "added_at", "begun", "before"
    ):
        index = bisect_left(times, at)
        if index == len(turns) or at <= (times[index - 1] if index else parent_at or begun):
            continue
        turn = turns[index]
        if turn.kind == Turn.Kind.USER_TASK and turn.origin_id is None:
            found[turn.pk] = (*found.get(turn.pk, ()), OpenedFile(path, is_open))
    return found


def opened_response() -> HttpResponse:
    """After a file was opened in a dialog: the page closes it and reads the list again."""
    response = HttpResponse(status=204)
    trigger_client_event(response, "closes-dialog")
    return trigger_client_event(response, "session-changed")
