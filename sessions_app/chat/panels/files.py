"""Files of the workspace beside a chat: uploaded, opened, read, downloaded."""

from pathlib import PurePosixPath
from typing import Any
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import FileResponse, Http404, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_GET, require_POST

from sessions_app.chat.forms import FileForm, first_error
from sessions_app.chat.panels.views import refuse, show
from sessions_app.chat.views import Request, own_session
from sessions_app.context.files import open_file, read_file
from sessions_app.context.workspaces import workspace_of
from sessions_app.errors import WorkspaceError
from sessions_app.models import Session
from sessions_app.workspace import UPLOAD_LIMIT

FILES = "file_references"


@login_required
@require_POST
def upload(request: Request, public: UUID) -> HttpResponse:
    """Opens a new file, or one of the workspace: the model reads it from the next message on."""
    session = own_session(request, public, "assistant")
    form = FileForm(request.POST, request.FILES)
    if not form.is_valid():
        return refuse(request, FILES, first_error(form))
    try:
        path = _open(session, form.cleaned_data["file"], form.cleaned_data["path"])
    except WorkspaceError as error:
        return refuse(request, FILES, f"{error.message} {error.hint}".strip())
    return show(request, session, FILES, said=f"{path} is open for the model.")


@login_required
@require_GET
def text(request: Request, public: UUID, kind: str, number: int) -> HttpResponse:
    """What the model reads of one file, or why it does not."""
    session = own_session(request, public)
    path, page = _file(session, kind, number)
    read = read_file(workspace_of(session.owner_id), path, page)
    return render(request, "chat/panels/raw.html", {"text": read.content, "problem": read.problem})


@login_required
@require_GET
def download(request: Request, public: UUID, number: int) -> FileResponse:
    """An artifact as a file; never shown by the browser, since the model wrote it."""
    session = own_session(request, public)
    path = get_object_or_404(session.artifacts, pk=number).path
    try:
        found = workspace_of(session.owner_id).resolve(path)
        body = found.open("rb")
    except (WorkspaceError, OSError) as error:
        raise Http404("The file is no longer in the workspace.") from error
    name = PurePosixPath(path).name
    return FileResponse(body, as_attachment=True, filename=name, content_type="application/octet-stream")


def _open(session: Session, file: Any, path: str) -> str:
    """Raises WorkspaceError for what cannot be kept. What can, but cannot be sent, is open and says so."""
    workspace = workspace_of(session.owner_id)
    if file is not None:
        path = workspace.relative(workspace.store_upload(file.name, file.chunks(), UPLOAD_LIMIT))
    return open_file(session, workspace, path).path


def _file(session: Session, kind: str, number: int) -> tuple[str, int]:
    if kind == "artifact":
        return get_object_or_404(session.artifacts, pk=number).path, 1
    reference = get_object_or_404(session.references, pk=number)
    return reference.path, reference.page
