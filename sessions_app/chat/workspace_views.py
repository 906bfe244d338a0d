"""Open a file of the workspace for the message that is being written."""

from typing import Any
from uuid import UUID

from django import forms
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_http_methods

from sessions_app.accounts.requests import AuthenticatedRequest, own_chat
from sessions_app.chat.open_files import opened_response
from sessions_app.context.workspaces import workspace_of
from sessions_app.errors import WorkspaceError
from sessions_app.fields import FocusedRadioSelect
from sessions_app.panels.file_pages import open_file, read_file
from sessions_app.panels.kinds.files import OFFERED
from sessions_app.wording.refusals import error_texts


class WorkspaceFileForm(forms.Form):
    path = forms.ChoiceField(label="File", widget=FocusedRadioSelect)

    def __init__(self, paths: tuple[str, ...], *args: Any) -> None:
        super().__init__(*args)
        self.fields["path"].choices = [(path, path) for path in paths]  # type: ignore[attr-defined]


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def workspace(request: AuthenticatedRequest, public: UUID) -> HttpResponse:
    """GET shows the files; POST opens the chosen one."""
    session = own_chat(request, public)
    files = workspace_of(request.user.pk)
    form = WorkspaceFileForm(files.list(OFFERED), request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            open_file(session, files, form.cleaned_data["path"])
        except WorkspaceError as error:
            form.add_error("path", " ".join(error_texts(error)))
        else:
            read_file(files, form.cleaned_data["path"])  # The composer says what is known of it.
            return opened_response()
    return render(request, "chat/workspace.html", {"session": session, "form": form})
