"""Import a session from a file: the upload, and the imports of a person with their progress."""

from concurrent.futures import CancelledError, Future
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Self
from uuid import UUID

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import AnonymousUser, User
from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render, resolve_url
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe
from django_htmx.http import HttpResponseClientRedirect

from sessions_app.accounts.requests import AuthenticatedRequest
from sessions_app.body_limits import IMPORT_LIMIT
from sessions_app.chat.imports import add_job, run_job, size_of
from sessions_app.context.personal_limits import check_imports, check_sessions
from sessions_app.context.storage import check_upload
from sessions_app.error_codes import ImportProblem
from sessions_app.errors import NotImportable
from sessions_app.models import ImportJob, Session
from sessions_app.wording.imports import error_texts, import_texts, note_text, recognised

WAIT_SECONDS = 1.0
"""How long the upload waits for the import; most are done by then."""


class ImportForm(forms.Form):
    file = forms.FileField()

    def clean_file(self) -> Any:
        file = self.cleaned_data["file"]
        if file.size > IMPORT_LIMIT:
            size = f"{file.size / 2**20:.0f}"
            too_large = NotImportable(ImportProblem.TOO_LARGE, size=size, limit=IMPORT_LIMIT // 2**20)
            raise ValidationError(" ".join(error_texts(too_large)))
        return file


@dataclass(frozen=True, slots=True)
class ImportView:
    """A job as the list shows it; `problem` says why it failed, and what to do."""

    job: ImportJob
    problem: str
    remarks: tuple[str, ...] = ()
    """What the file was recognised as, and what its owner should know."""

    @classmethod
    def of(cls, job: ImportJob) -> Self:
        error = job.error
        texts = import_texts(error.get("reason", ""), error.get("figures", {})) if error else ()
        remarks = (recognised(job.format), *map(note_text, job.notes))
        return cls(job, " ".join(texts).strip(), tuple(filter(None, remarks)))


def imports_context(user: User | AnonymousUser) -> dict[str, Any]:
    """The person's imports that go on, or whose end they have not dismissed."""
    jobs = list(ImportJob.objects.filter(owner_id=user.pk).select_related("session"))
    return {
        "imports": [ImportView.of(job) for job in jobs],
        "is_importing": any(job.is_active for job in jobs),
    }


@login_required
@require_POST
def import_session(request: AuthenticatedRequest) -> HttpResponse:
    """Begins an import; goes to the session if it is done at once, else to the list, which shows progress.

    Raises OverLimit.
    """
    form = ImportForm(request.POST, request.FILES)
    if not form.is_valid():
        return _refuse(request, " ".join(map(str, form.errors["file"])))
    file = form.cleaned_data["file"]
    check_sessions(request.user.pk)
    check_imports(request.user.pk)
    check_upload(request.user.pk, file.size)
    job = add_job(request.user, file.name, file.chunks())
    _submit(request, job)
    ended = ImportJob.objects.exclude(pk__in=ImportJob.objects.active())
    over = ended.filter(pk=job.pk).select_related("session").first()
    return _go_to(request, "sessions") if over is None else _show_end(request, over)


def _show_end(request: AuthenticatedRequest, job: ImportJob) -> HttpResponse:
    shown = ImportView.of(job)
    job.delete()
    if job.session is None:
        return _refuse(request, shown.problem)
    for remark in shown.remarks:
        messages.info(request, remark)
    if job.left_out:
        messages.warning(request, f"Not imported, because unknown here: {', '.join(job.left_out)}.")
    return _go_to(request, job.session)


@login_required
@never_cache
@require_safe
def imports(request: AuthenticatedRequest) -> HttpResponse:
    return _render(request)


@login_required
@require_POST
def dismiss_import(request: AuthenticatedRequest, public: UUID) -> HttpResponse:
    """Cancels the import or, when it has ended, no longer shows it."""
    jobs = ImportJob.objects.filter(owner=request.user, public=public)
    job = get_object_or_404(jobs)
    if not jobs.active().update(cancel_requested=True):
        job.delete()
    return _render(request) if request.htmx else redirect("sessions")


def _submit(request: AuthenticatedRequest, job: ImportJob) -> None:
    """Hands the job to the importer that `pipeweb.asgi` puts into the scope; without one, does it here."""
    scope: dict[str, Any] = getattr(request, "scope", {})
    if (importer := scope.get("importer")) is None:
        run_job(job.pk, "")
        return
    future: Future[None] = importer.submit(job.pk, size_of(job))
    # Cancelled: this process ends, and the next one does it.
    with suppress(TimeoutError, CancelledError):
        future.result(WAIT_SECONDS)


def _render(request: AuthenticatedRequest) -> HttpResponse:
    return render(request, "chat/imports.html", imports_context(request.user))


def _refuse(request: AuthenticatedRequest, problem: str) -> HttpResponse:
    """Says it beside the field."""
    if request.htmx:
        return render(request, "chat/import_problem.html", {"problem": problem})
    messages.error(request, problem)
    return redirect("sessions")


def _go_to(request: AuthenticatedRequest, where: str | Session) -> HttpResponse:
    return HttpResponseClientRedirect(resolve_url(where)) if request.htmx else redirect(where)
