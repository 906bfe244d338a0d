"""Finding an exchange for a person: what is not theirs does not exist."""

from collections.abc import Sequence
from typing import TypeVar
from uuid import UUID

from django.http import Http404, HttpRequest
from django.shortcuts import get_object_or_404

from sessions_app.inspector.refusals import refused_runs
from sessions_app.models import Exchange, Run, Session

T = TypeVar("T")


def session_or_404(request: HttpRequest, public: UUID) -> Session:
    return get_object_or_404(Session.objects.of(request.user), public=public)


def exchange_or_404(request: HttpRequest, public: UUID, number: int) -> Exchange:
    own = Session.objects.of(request.user).filter(public=public)
    rows = Exchange.objects.filter(session__in=own).select_related("session", "run", "previous", "resend_of")
    return get_object_or_404(rows, number=number)


def run_or_404(request: HttpRequest, public: UUID, run: UUID) -> Run:
    """A run that was refused before its request was sent."""
    return get_object_or_404(refused_runs(session_or_404(request, public)), public=run)


def nth_or_404(things: Sequence[T], index: int) -> T:
    if index >= len(things):
        raise Http404
    return things[index]
