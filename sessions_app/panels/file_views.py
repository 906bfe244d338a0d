"""Views that upload, open, show and download files of the workspace."""

from pathlib import PurePosixPath
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import FileResponse, Http404, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_GET, require_POST

from sessions_app.accounts.requests import AuthenticatedRequest, own_chat
from sessions_app.context.storage import check_upload
from sessions_app.context.workspaces import workspace_of
from sessions_app.errors import NotKept, PipewebError, WorkspaceError
from sessions_app.models import Session
from sessions_app.panels.base import Action
from sessions_app.panels.file_pages import read_file
from sessions_app.panels.kinds.files import FileReferences, OpenFile
from sessions_app.panels.views import error_response, panel_response, parse_action
from sessions_app.workspace import UPLOAD_LIMIT


@login_required
@require_POST
def upload(request: AuthenticatedRequest, public: UUID) -> HttpResponse:
    """Opens a new file, or one of the workspace: the model reads it from the next message on."""
    session = own_chat(request, public, "assistant")
    try:
        message = _open_action(session, request).carry_out(session)
    except PipewebError as error:
        return error_response(request, FileReferences.key, error)
    return panel_response(request, session, FileReferences.key, message=message)


@login_required
@require_GET
def text(request: AuthenticatedRequest, public: UUID, kind: str, number: int) -> HttpResponse:
    """The page of a file that is sent, or why it is not."""
    session = own_chat(request, public)
    path, page = _file(session, kind, number)
    read = read_file(workspace_of(session.owner_id), path, page)
    return render(request, "panels/raw.html", {"text": read.content, "problem": read.problem})


@login_required
@require_GET
def download(request: AuthenticatedRequest, public: UUID, number: int) -> FileResponse:
    """An artifact as an attachment: the browser must not render what the model wrote."""
    session = own_chat(request, public)
    path = get_object_or_404(session.artifacts, pk=number).path
    try:
        found = workspace_of(session.owner_id).resolve(path)
        body = found.open("rb")
    except (WorkspaceError, OSError) as error:
        raise Http404("The file is no longer in the workspace.") from error
    name = PurePosixPath(path).name
    return FileResponse(body, as_attachment=True, filename=name, content_type="application/octet-stream")


def _open_action(session: Session, request: AuthenticatedRequest) -> Action:
    """The action that opens the uploaded file, after storing it, or the chosen path.

    Raises NotKept without either, OverLimit, and WorkspaceError for a file that cannot be stored.
    """
    file, path = request.FILES.get("file"), request.POST.get("path", "")
    if file is not None:
        check_upload(session.owner_id, file.size or 0)
        workspace = workspace_of(session.owner_id)
        path = workspace.relative(workspace.store_upload(file.name or "", file.chunks(), UPLOAD_LIMIT))
    if not path:
        raise NotKept("Choose a file.")
    return parse_action(OpenFile, {"path": path})


def _file(session: Session, kind: str, number: int) -> tuple[str, int]:
    if kind == "artifact":
        return get_object_or_404(session.artifacts, pk=number).path, 1
    reference = get_object_or_404(session.references, pk=number)
    return reference.path, reference.page
