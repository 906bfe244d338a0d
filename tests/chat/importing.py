"""Imports without a page: a file becomes a job, which is done in the thread of the test."""

from typing import Any

from django.contrib.auth.models import User

from sessions_app.chat.imports import add_job, run_job
from sessions_app.error_codes import ImportProblem
from sessions_app.errors import NotImportable
from sessions_app.models import ImportJob, Session


def import_session(owner: User, body: bytes) -> Session:
    """The session of an exported file. Raises NotImportable."""
    job = add_job(owner, "talk.json", [body])
    run_job(job.pk, "test")
    job = ImportJob.objects.select_related("session").get(pk=job.pk)
    if job.session is None:
        error: dict[str, Any] = job.error
        raise NotImportable(ImportProblem(error["reason"]), **error["figures"])
    assert job.state == ImportJob.State.COMPLETED and not job.session.is_importing
    return Session.objects.of(owner).get(pk=job.session.pk)
