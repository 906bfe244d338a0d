"""Upload files for a message, list them and serve their bytes to the owner."""

from typing import Any
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.core.files.uploadedfile import UploadedFile
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils.http import content_disposition_header
from django.views.decorators.clickjacking import xframe_options_sameorigin
from django.views.decorators.http import require_POST, require_safe

from sessions_app.accounts.reading import readable_session
from sessions_app.accounts.requests import AuthenticatedRequest, own_chat
from sessions_app.chat.history_views import conflict_response
from sessions_app.chat.text_files import keep_text
from sessions_app.context.storage import check_upload
from sessions_app.context.workspaces import workspace_of
from sessions_app.documents.jobs import read_document
from sessions_app.errors import DocumentRefused, RunError, WorkspaceError
from sessions_app.media import (
    ARCHIVE,
    COUNT_LIMIT,
    DOCUMENT_LIMIT,
    FILE_LIMIT,
    HEAD_SIZE,
    READ_KINDS,
    WORD_TYPE,
    is_shown,
    is_text,
    kind_of,
)
from sessions_app.models import Attachment, Reference, Session
from sessions_app.panels.archives import is_archive
from sessions_app.prompt.media import attachment_key, bytes_of, media_in
from sessions_app.wording import documents, uploads
from sessions_app.workspace import UPLOAD_LIMIT
from sessions_app.workspace_paths import safe_name

CACHE_FOREVER = "private, max-age=31536000, immutable"
"""Turns and attachments never change."""

SANDBOX_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": CACHE_FOREVER,
}
"""Headers for untrusted files: no script runs and nothing is loaded."""


SUGGESTION_HEADERS = SANDBOX_HEADERS | {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self';"
        " sandbox allow-popups allow-popups-to-escape-sandbox"
    ),
    "Referrer-Policy": "no-referrer",
}
"""As untrusted as a file; its links open in tabs of their own."""

SUGGESTION_PAGE = (
    '<!doctype html><meta charset="utf-8"><meta name="color-scheme" content="light dark">'
    '<base target="_blank">'
)
"""Before the provider's HTML: its links have no target, and nothing but their frame to open in."""

PASTED = "text/plain"
"""The type of a long text that was pasted into the message."""


@login_required
@require_POST
def attach(request: AuthenticatedRequest, public: UUID) -> HttpResponse:
    """Stores media as an attachment of the next message, text as a file in the workspace.

    Returns its chip, or 409 with the error. Raises OverLimit.
    """
    session = own_chat(request, public)
    file = request.FILES.get("file")
    if file is not None:
        check_upload(session.owner_id, file.size or 0)
    try:
        if file is None:
            raise RunError("No file came.", hint="Choose a file.")
        kept = _store(session, file, is_pasted="pasted" in request.POST)
    except DocumentRefused as error:
        return conflict_response(_document_refusal(file, error))
    except (RunError, WorkspaceError) as error:
        return conflict_response(RunError(error.message, hint=error.hint))
    return render(request, "chat/chip.html", {"session": session, **kept})


@login_required
@require_POST
def detach(request: AuthenticatedRequest, public: UUID, attachment: UUID) -> HttpResponse:
    """Removes a file from the message being written."""
    session = own_chat(request, public)
    row = get_object_or_404(Attachment.objects.in_composer(session), public=attachment)
    Attachment.objects.discard([row], session.owner_id)
    return HttpResponse(status=204)


@login_required
@require_safe
def attachments(request: AuthenticatedRequest, public: UUID) -> HttpResponse:
    """The chips of the message being written."""
    session = own_chat(request, public)
    context = {"session": session, "attachments": Attachment.objects.in_composer(session)}
    return render(request, "chat/chips.html", context)


@login_required
@require_safe
def attachment_bytes(request: AuthenticatedRequest, public: UUID, attachment: UUID) -> HttpResponse:
    """The bytes of an attachment that may not be sent yet."""
    session = own_chat(request, public)
    row = get_object_or_404(Attachment.objects.select_related("blob"), session=session, public=attachment)
    return file_response(row.blob.bytes, row.mime, row.name)


@login_required
@require_safe
def turn_media(request: AuthenticatedRequest, public: UUID, turn: UUID, part: int) -> HttpResponse:
    """The bytes of an attached or generated file in a turn."""
    session = readable_session(request, public)
    row = get_object_or_404(session.turns.select_related("content"), public=turn)
    found = dict(media_in(row.wire)).get(part)
    if found is None:
        raise Http404
    body = _uploaded_bytes(session, key) if (key := attachment_key(found)) else bytes_of(found)
    if body is None:
        raise Http404
    return file_response(body, found.mime, found.name)


@login_required
@xframe_options_sameorigin
@require_safe
def suggestions(request: AuthenticatedRequest, public: UUID, turn: UUID) -> HttpResponse:
    """The search suggestions of an answer: the provider's HTML as it came, for a frame of its own."""
    session = readable_session(request, public)
    found = get_object_or_404(session.turns, public=turn).cited.suggestions
    if not found:
        raise Http404
    return HttpResponse(SUGGESTION_PAGE + found, headers=SUGGESTION_HEADERS)


def file_response(body: bytes, mime: str, name: str) -> HttpResponse:
    """Serves inline only harmless types whose bytes match; anything else is a download."""
    shown = is_shown(mime) and (kind_of(body[:HEAD_SIZE]) == mime or not mime.startswith("image/"))
    kind = mime if shown else "application/octet-stream"
    answer = HttpResponse(body, content_type=kind, headers=SANDBOX_HEADERS)
    disposition = content_disposition_header(not shown, safe_name(name or "file"))
    if disposition:
        answer["Content-Disposition"] = disposition
    return answer


def _store(session: Session, file: "UploadedFile[Any]", *, is_pasted: bool) -> dict[str, Any]:
    """Returns the template context of the chip. Raises RunError or WorkspaceError.

    A text opens as a reference in the context panel, but a pasted one is part of the message.
    """
    name, size = safe_name(file.name or "file"), file.size or 0
    if not size:
        raise RunError(f"“{name}” is empty.", hint="Choose another file.")
    head = file.read(HEAD_SIZE)
    file.seek(0)
    mime = kind_of(head)
    if mime:
        return {"attachment": _attach(session, file, name, mime)}
    if head.startswith(ARCHIVE):
        return {"reference": _keep_document(session, file, name)}
    is_large = size > UPLOAD_LIMIT
    if not is_text(head if is_large else file.read()):
        raise RunError(f"“{name}” is no kind of file that the model reads.", hint=f"It reads {READ_KINDS}.")
    if is_large:
        raise _refusal(uploads.too_large(name, size, UPLOAD_LIMIT, "text"))
    if is_pasted:
        return {"attachment": _attach(session, file, name, PASTED)}
    workspace = workspace_of(session.owner_id)
    path = workspace.relative(workspace.store_upload(name, file.chunks(), UPLOAD_LIMIT))
    return {"reference": session.references.open_in(session, path)}


def _keep_document(session: Session, file: "UploadedFile[Any]", name: str) -> Reference:
    """Raises DocumentRefused, RunError, WorkspaceError."""
    if (file.size or 0) > DOCUMENT_LIMIT:
        raise _refusal(uploads.too_large(name, file.size or 0, DOCUMENT_LIMIT, WORD_TYPE))
    found = read_document(file.read(), person=session.owner_id)
    return keep_text(session, name, documents.document_with_origin(name, found.text))


def _document_refusal(file: "UploadedFile[Any] | None", error: DocumentRefused) -> RunError:
    name = safe_name((file and file.name) or "file")
    hint = documents.hint("archive" if is_archive(name) else "document")
    return RunError(documents.problem_of_file(name, error.reason, error.figures), hint=hint)


def _attach(session: Session, file: "UploadedFile[Any]", name: str, mime: str) -> Attachment:
    size = file.size or 0
    if size > FILE_LIMIT:
        raise _refusal(uploads.too_large(name, size, FILE_LIMIT, mime))
    if Attachment.objects.in_composer(session).count() >= COUNT_LIMIT:
        raise _refusal(uploads.too_many(COUNT_LIMIT))
    return Attachment.objects.add(session, name=name, mime=mime, file=file)


def _refusal(texts: tuple[str, str]) -> RunError:
    message, hint = texts
    return RunError(message, hint=hint)


def _uploaded_bytes(session: Session, key: str) -> bytes | None:
    rows = Attachment.objects.filter(session__owner_id=session.owner_id, public=key)
    row = rows.select_related("blob").first()
    return row.blob.bytes if row else None
