"""Exports of chosen rows: what their list shows as CSV or JSON; content, with the permission and a reason."""

from typing import Any

from django import forms
from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse

from sessions_app.admin.confirmed import CONFIRMED, asking_page, named_action
from sessions_app.admin.content_access import ReasonForm
from sessions_app.admin.lists import FORMS, exported
from sessions_app.errors import NotOpened
from sessions_app.models import ContentGrant, Session
from sessions_app.models.content_grant import LIFETIME
from sessions_app.wording import audit_log

AT_ONCE = 20
"""Sessions that may be opened with one reason."""


class FormOfFile(forms.Form):
    form = forms.ChoiceField(
        label="As", choices=[(name, name.upper()) for name in FORMS], initial="csv", widget=forms.RadioSelect
    )


def export_rows(
    listing: Any, request: HttpRequest, queryset: QuerySet[Any]
) -> HttpResponse | StreamingHttpResponse:
    """The columns of the list, so nothing that it does not show."""
    form = FormOfFile(request.POST if CONFIRMED in request.POST else None)
    if not form.is_valid():
        return asking_page(
            listing,
            request,
            queryset,
            form,
            name="export",
            title="Export selected rows",
            consequence="What the list shows of them: figures, states and names, and no text of a person.",
        )
    return exported(listing, request, queryset, form.cleaned_data["form"])


def export_content(listing: Any, request: Any, queryset: QuerySet[Session]) -> HttpResponse | None:
    """Opens the chosen sessions for a while, and leads to their files."""
    chosen = queryset.filter(deleted_at=None, is_importing=False).defer("purpose", "background", "settings")
    rows = list(chosen.exclude(owner=request.user)[: AT_ONCE + 1])
    if not rows or len(rows) > AT_ONCE:
        listing.message_user(
            request,
            f"Choose between 1 and {AT_ONCE} sessions of others that are not in the trash.",
            messages.WARNING,
        )
        return None
    form = ReasonForm(request.POST if CONFIRMED in request.POST else None)
    if form.is_valid():
        try:
            for session in rows:
                ContentGrant.objects.open(request.user, session, form.cleaned_data["reason"])
            return _files_page(listing, request, rows)
        except NotOpened as error:
            form.add_error("reason", audit_log.refusal(error.reason, error.figures))
    return asking_page(
        listing,
        request,
        chosen,
        form,
        name="export_content",
        title="Export the content of selected sessions",
        consequence=f"They are opened for {LIFETIME.seconds // 60} minutes. Their owners see at once who "
        "took which file, when and why.",
    )


def _files_page(listing: Any, request: HttpRequest, rows: list[Session]) -> HttpResponse:
    """The addresses are those of the chat's own exports, which a grant opens and the log names."""
    files = [(row.public, reverse("export-json", args=[row.public])) for row in rows]
    context = {
        **listing.admin_site.each_context(request),
        "title": "Export the content of selected sessions",
        "opts": listing.model._meta,
        "files": files,
        "minutes": LIFETIME.seconds // 60,
    }
    return TemplateResponse(request, "admin/content_files.html", context)


EXPORT = named_action(export_rows, "export", "Export selected rows as CSV or JSON", "view")
EXPORT_CONTENT = named_action(
    export_content, "export_content", "Export the content of selected sessions", "read_content"
)
