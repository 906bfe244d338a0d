"""The files, artifacts and todos beside a chat."""

from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_GET, require_POST

from sessions_app.chat.forms import FileForm
from sessions_app.chat.pages import Details
from sessions_app.chat.views import Request, own_session
from sessions_app.context.workspaces import workspace_of
from sessions_app.errors import WorkspaceError
from sessions_app.models import Session
from sessions_app.workspace import UPLOAD_LIMIT


@login_required
@require_GET
def details(request: Request, public: UUID) -> HttpResponse:
    return _show(request, own_session(request, public))


@login_required
@require_POST
def upload(request: Request, public: UUID) -> HttpResponse:
    """Adds a file that the model sees from the next message on."""
    session = own_session(request, public)
    form = FileForm(request.POST, request.FILES)
    if not form.is_valid():
        return _show(
            request, session, " ".join(map(str, form.non_field_errors())) or "The file cannot be used."
        )
    try:
        path = _keep(session, form)
    except WorkspaceError as error:
        return _show(request, session, f"{error.message} {error.hint}".strip())
    session.references.get_or_create(path=path)
    return _show(request, session)


@login_required
@require_POST
def remove(request: Request, public: UUID, reference: int) -> HttpResponse:
    """Takes a file out of the session; it stays in the workspace."""
    session = own_session(request, public)
    get_object_or_404(session.references, pk=reference).delete()
    return _show(request, session)


def _keep(session: Session, form: FileForm) -> str:
    workspace = workspace_of(session.owner_id)
    file = form.cleaned_data["file"]
    if file is None:
        path: str = form.cleaned_data["path"]
        workspace.read_text(path)
        return path
    return workspace.relative(workspace.store_upload(file.name, file.chunks(), UPLOAD_LIMIT))


def _show(request: Request, session: Session, problem: str = "") -> HttpResponse:
    page = Details.of(session, problem)
    return render(request, "chat/details.html", {"details": page, "session": session})
