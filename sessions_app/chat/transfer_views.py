"""Download a session as a file."""

from typing import Any, Literal
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.utils.text import slugify
from django.views.decorators.http import require_safe

from sessions_app.accounts.reading import readable_session
from sessions_app.accounts.requests import AuthenticatedRequest
from sessions_app.chat import transfer
from sessions_app.log_codes import LoggedAction
from sessions_app.models.audit_entry import record


@login_required
@require_safe
def export(request: AuthenticatedRequest, public: UUID, form: Literal["json", "markdown"]) -> HttpResponse:
    """JSON has the complete tree, Markdown the branch in view. Staff with a grant take it too."""
    found = readable_session(request, public, "head", "procedure", "assistant")
    given: dict[str, Any] = {"reason": found.grant.reason} if found.grant else {}
    record(LoggedAction.EXPORTED, request.user, found, form=form, **given)
    name = slugify(found.shown_title)[:60] or "session"
    if form == "json":
        return _file(transfer.export_session(found), "application/json", f"{name}.json")
    return _file(transfer.export_markdown(found).encode(), "text/markdown; charset=utf-8", f"{name}.md")


def _file(body: bytes, kind: str, name: str) -> HttpResponse:
    return HttpResponse(
        body, content_type=kind, headers={"Content-Disposition": f'attachment; filename="{name}"'}
    )
