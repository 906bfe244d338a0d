"""Views that upload, open, show and download files of the workspace."""

from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Any
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.core.files.uploadedfile import UploadedFile
from django.http import FileResponse, Http404, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_POST, require_safe

from sessions_app.accounts.requests import AuthenticatedRequest, own_chat
from sessions_app.context.storage import check_storage, check_upload
from sessions_app.context.workspaces import workspace_of
from sessions_app.errors import NotKept, PipewebError, WorkspaceError
from sessions_app.models import Session
from sessions_app.panels.archives import check_archive, is_archive, pack, unpack
from sessions_app.panels.base import Action
from sessions_app.panels.file_pages import read_file
from sessions_app.panels.kinds.files import FileReferences, OpenFile
from sessions_app.panels.kinds.tree import WorkspaceTree
from sessions_app.panels.views import error_response, panel_response, parse_action
from sessions_app.tools.workspace_reading import WALKED
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
@require_POST
def fill(request: AuthenticatedRequest, public: UUID) -> HttpResponse:
    """Puts files into the workspace; a zip archive is unpacked, whole or not at all. Nothing is opened."""
    session = own_chat(request, public, "assistant")
    try:
        written = _fill(session, request.FILES.getlist("file"))
    except PipewebError as error:
        return error_response(request, WorkspaceTree.key, error)
    message = f"{len(written)} file{'' if len(written) == 1 else 's'} put into your workspace."
    return panel_response(request, session, WorkspaceTree.key, message=message)


def _fill(session: Session, files: "Sequence[UploadedFile[Any]]") -> list[str]:
    """Each archive is checked before anything is written. Raises NotKept, OverLimit, WorkspaceError."""
    if not files:
        raise NotKept("Choose a file.")
    workspace = workspace_of(session.owner_id)
    entries = {
        file: check_archive(workspace, file) for file in files if is_archive(file.name or "") and file.file
    }
    check_upload(session.owner_id, sum(file.size or 0 for file in files))
    check_storage(session.owner_id, sum(one.file_size for found in entries.values() for one in found))
    written: list[str] = []
    for file in files:
        if file in entries:
            written += unpack(workspace, file, entries[file])
        else:
            path = workspace.store_upload(file.name or "", file.chunks(), UPLOAD_LIMIT)
            written.append(workspace.relative(path))
    return written


@login_required
@require_safe
def workspace_file(request: AuthenticatedRequest, public: UUID, path: str) -> FileResponse:
    """One file as an attachment."""
    return _attachment(own_chat(request, public), path)


@login_required
@require_safe
def workspace_archive(request: AuthenticatedRequest, public: UUID) -> HttpResponse | FileResponse:
    """All visible files as one zip archive."""
    session = own_chat(request, public)
    workspace = workspace_of(session.owner_id)
    try:
        body = pack(workspace, workspace.list(WALKED))
    except WorkspaceError as error:
        return HttpResponse(error.message, status=409, content_type="text/plain; charset=utf-8")
    return FileResponse(body, as_attachment=True, filename="workspace.zip", content_type="application/zip")


@login_required
@require_safe
def text(request: AuthenticatedRequest, public: UUID, kind: str, number: int) -> HttpResponse:
    """The page of a file that is sent, or why it is not."""
    session = own_chat(request, public)
    path, page = _file(session, kind, number)
    read = read_file(workspace_of(session.owner_id), path, page)
    return render(request, "panels/raw.html", {"text": read.content, "problem": read.problem})


@login_required
@require_safe
def download(request: AuthenticatedRequest, public: UUID, number: int) -> FileResponse:
    """An artifact as an attachment: the browser must not render what the model wrote."""
    session = own_chat(request, public)
    return _attachment(session, get_object_or_404(session.artifacts, pk=number).path)


def _attachment(session: Session, path: str) -> FileResponse:
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
