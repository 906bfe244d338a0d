"""The form that imports an HTTP archive."""

from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from sessions_app.accounts.requests import AuthenticatedRequest
from sessions_app.body_limits import HAR_LIMIT
from sessions_app.capture.har_imports import import_har
from sessions_app.context.storage import check_upload
from sessions_app.error_codes import HarProblem
from sessions_app.errors import HarRefused
from sessions_app.wording import har as wording


class HarForm(forms.Form):
    file = forms.FileField(allow_empty_file=True)


@login_required
@require_POST
def har(request: AuthenticatedRequest) -> HttpResponse:
    """Imports a file and tells what was recorded and what was not. Raises OverLimit."""
    form = HarForm(request.POST, request.FILES)
    if not form.is_valid():
        messages.error(request, " ".join(map(str, form.errors["file"])))
        return redirect("capture")
    try:
        said = _imported(request.user.pk, form.cleaned_data["file"])
    except HarRefused as refused:
        messages.error(request, wording.problem(refused.reason, refused.figures))
    else:
        for sentence in said:
            messages.info(request, sentence)
    return redirect("capture")


def _imported(owner_id: int, file: Any) -> list[str]:
    """Raises HarRefused or OverLimit."""
    if file.size > HAR_LIMIT:
        raise HarRefused(HarProblem.TOO_LARGE, limit=HAR_LIMIT // 2**20)
    check_upload(owner_id, file.size)
    found = import_har(owner_id, file.name, file.read())
    return wording.summary(found.requests, found.sessions, found.no_room, found.ignored)
