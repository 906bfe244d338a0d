"""Views of a change that a tool made to a file: what differs, and undo."""

from dataclasses import dataclass
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_POST, require_safe

from sessions_app.accounts.requests import AuthenticatedRequest, own_chat
from sessions_app.errors import PipewebError
from sessions_app.models import FileChange, Session
from sessions_app.panels.file_edits import UndoChange
from sessions_app.wording.refusals import error_texts


@dataclass(frozen=True, slots=True)
class DiffLine:
    """`mark` is the first character of a line of the diff."""

    mark: str
    text: str


@login_required
@require_safe
def file_change(request: AuthenticatedRequest, public: UUID, change: str) -> HttpResponse:
    session = own_chat(request, public)
    return _render(request, session, change)


@login_required
@require_POST
def undo_change(request: AuthenticatedRequest, public: UUID, change: str) -> HttpResponse:
    """Puts the file back; refused, with the reason, where it was changed since."""
    session = own_chat(request, public)
    try:
        UndoChange(change=change).carry_out(session)
    except PipewebError as error:
        return _render(request, session, change, " ".join(error_texts(error)).strip())
    return _render(request, session, change)


def _render(request: AuthenticatedRequest, session: Session, key: str, problem: str = "") -> HttpResponse:
    change = get_object_or_404(FileChange, session=session, key=key)
    lines = [DiffLine(line[:1], line) for line in change.diff.splitlines()]
    context = {"session": session, "change": change, "lines": lines, "problem": problem}
    return render(request, "panels/file_change.html", context)
