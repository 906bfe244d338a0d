"""A session leaves as a file, or comes in from one."""

from typing import Literal
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils.text import slugify
from django.views.decorators.http import require_GET, require_POST

from sessions_app.chat import transfer
from sessions_app.chat.forms import ImportForm
from sessions_app.chat.views import Request, own_session
from sessions_app.errors import NotImportable


@login_required
@require_GET
def export(request: Request, public: UUID, form: Literal["json", "markdown"]) -> HttpResponse:
    """JSON has the whole tree, Markdown the branch in view."""
    found = own_session(request, public, "head", "procedure", "assistant")
    name = slugify(found.shown_title)[:60] or "session"
    if form == "json":
        return _file(transfer.export(found), "application/json", f"{name}.json")
    return _file(transfer.markdown(found).encode(), "text/markdown; charset=utf-8", f"{name}.md")


@login_required
@require_POST
def import_session(request: Request) -> HttpResponse:
    form = ImportForm(request.POST, request.FILES)
    if not form.is_valid():
        messages.error(request, " ".join(map(str, form.errors["file"])))
        return redirect("sessions")
    try:
        session = transfer.import_session(request.user, form.cleaned_data["file"].read())
    except NotImportable as error:
        messages.error(request, f"{error.message} {error.hint}")
        return redirect("sessions")
    return redirect(session)


def _file(body: bytes, kind: str, name: str) -> HttpResponse:
    return HttpResponse(
        body, content_type=kind, headers={"Content-Disposition": f'attachment; filename="{name}"'}
    )
