"""Files for a message: uploaded before it is sent, shown to their owner, served without risk."""

from typing import Any
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.core.files.uploadedfile import UploadedFile
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils.http import content_disposition_header
from django.views.decorators.http import require_GET, require_POST

from sessions_app.chat.branches import refuse
from sessions_app.chat.views import Request, own_session
from sessions_app.context.workspaces import workspace_of
from sessions_app.errors import RunError, WorkspaceError
from sessions_app.media import COUNT_LIMIT, FILE_LIMIT, HEAD, READ_KINDS, is_shown, is_text, kind_of
from sessions_app.models import Attachment, Session
from sessions_app.prompt.media import bytes_of, media_in
from sessions_app.prompt.turns import raw_parts
from sessions_app.workspace import UPLOAD_LIMIT, safe_name

FOR_EVER = "private, max-age=31536000, immutable"
"""Neither a turn nor an attachment ever changes."""

SEALED = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": FOR_EVER,
}
"""A file comes from anywhere: opened by its address it may run nothing and reach nothing."""


@login_required
@require_POST
def attach(request: Request, public: UUID) -> HttpResponse:
    """One file: media becomes an attachment of the next message, text a file of the dynamic layer.

    Answers its chip, or 409 with what is wrong.
    """
    session = own_session(request, public)
    file = request.FILES.get("file")
    try:
        if file is None:
            raise RunError("No file came.", hint="Choose a file.")
        kept = _keep(session, file)
    except (RunError, WorkspaceError) as error:
        return refuse(RunError(error.message, hint=error.hint))
    return render(request, "chat/chip.html", {"session": session, **kept})


@login_required
@require_POST
def detach(request: Request, public: UUID, attachment: UUID) -> HttpResponse:
    """Takes a file off the message that is being written."""
    session = own_session(request, public)
    row = get_object_or_404(Attachment.objects.in_composer(session), public=attachment)
    Attachment.objects.discard([row], session.owner_id)
    return HttpResponse(status=204)


@login_required
@require_GET
def waiting(request: Request, public: UUID) -> HttpResponse:
    """The chips of the message that is being written."""
    session = own_session(request, public)
    context = {"session": session, "attachments": Attachment.objects.in_composer(session)}
    return render(request, "chat/chips.html", context)


@login_required
@require_GET
def attached(request: Request, public: UUID, attachment: UUID) -> HttpResponse:
    """The bytes of a file that is not sent yet."""
    session = own_session(request, public)
    row = get_object_or_404(Attachment.objects.select_related("blob"), session=session, public=attachment)
    return served(row.blob.bytes, row.mime, row.name)


@login_required
@require_GET
def media(request: Request, public: UUID, turn: UUID, part: int) -> HttpResponse:
    """The bytes of a file in a turn: what was attached, or what the model made."""
    session = own_session(request, public)
    row = get_object_or_404(session.turns.select_related("content"), public=turn)
    parts = raw_parts(row.wire)
    found = next((one for one in media_in(parts) if one.index == part), None)
    if found is None:
        raise Http404
    body = _copy(session, found.key) if found.key else bytes_of(parts[part])
    if body is None:
        raise Http404
    return served(body, found.mime, found.name)


def served(body: bytes, mime: str, name: str) -> HttpResponse:
    """A file that no page can be made to run: shown in place only where its kind is harmless."""
    shown = is_shown(mime) and (kind_of(body[:HEAD]) == mime or not mime.startswith("image/"))
    kind = mime if shown else "application/octet-stream"
    answer = HttpResponse(body, content_type=kind, headers=SEALED)
    disposition = content_disposition_header(not shown, safe_name(name or "file"))
    if disposition:
        answer["Content-Disposition"] = disposition
    return answer


def _keep(session: Session, file: "UploadedFile[Any]") -> dict[str, Any]:
    """The context of the chip. Raises RunError, WorkspaceError."""
    name, size = safe_name(file.name or "file"), file.size or 0
    if not size:
        raise RunError(f"“{name}” is empty.", hint="Choose another file.")
    head = file.read(HEAD)
    file.seek(0)
    mime = kind_of(head)
    if mime:
        return {"attachment": _attach(session, file, name, mime)}
    if size > UPLOAD_LIMIT or not is_text(_whole(file)):
        raise RunError(f"“{name}” is no kind of file that the model reads.", hint=f"It reads {READ_KINDS}.")
    workspace = workspace_of(session.owner_id)
    path = workspace.relative(workspace.store_upload(name, file.chunks(), UPLOAD_LIMIT))
    return {"reference": session.references.open_in(session, path)}


def _attach(session: Session, file: "UploadedFile[Any]", name: str, mime: str) -> Attachment:
    size = file.size or 0
    if size > FILE_LIMIT:
        limit = FILE_LIMIT // 1_000_000
        raise RunError(
            f"“{name}” has {size / 1e6:.0f} MB; a file may have {limit}.", hint="Attach a shorter part of it."
        )
    if Attachment.objects.in_composer(session).count() >= COUNT_LIMIT:
        raise RunError(f"A message may have {COUNT_LIMIT} files.", hint="Send these first.")
    return Attachment.objects.add(session, name=name, mime=mime, body=_whole(file))


def _whole(file: "UploadedFile[Any]") -> bytes:
    return b"".join(file.chunks())


def _copy(session: Session, key: str) -> bytes | None:
    rows = Attachment.objects.filter(session__owner_id=session.owner_id, public=key)
    row = rows.select_related("blob").first()
    return row.blob.bytes if row else None
