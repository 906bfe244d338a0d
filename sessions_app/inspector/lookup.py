"""Look-ups that raise Http404 for what the person does not own."""

from collections.abc import Sequence
from typing import TypeVar
from uuid import UUID

from django.http import Http404, HttpRequest
from django.shortcuts import get_object_or_404

from sessions_app.accounts.reading import readable_session
from sessions_app.inspector.stages import refused_runs
from sessions_app.models import Exchange, Run, Session

T = TypeVar("T")


def session_or_404(request: HttpRequest, public: UUID) -> Session:
    """Also for a member of staff who may read it now."""
    return readable_session(request, public)


def exchange_or_404(request: HttpRequest, public: UUID, number: int) -> Exchange:
    session = readable_session(request, public)
    related = ("session", "run", "previous", "resend_of", "continues")
    rows = Exchange.objects.filter(session=session).select_related(*related)
    found = get_object_or_404(rows, number=number)
    found.session.grant = session.grant
    return found


def kept_exchange_or_404(request: HttpRequest, public: UUID, number: int) -> Exchange:
    """One whose payload was not purged."""
    found = exchange_or_404(request, public, number)
    if found.payload_purged_at is not None:
        raise Http404
    return found


def run_or_404(request: HttpRequest, public: UUID, run: UUID) -> Run:
    """A refused run."""
    session = session_or_404(request, public)
    found = get_object_or_404(refused_runs(session), public=run)
    found.session.grant = session.grant
    return found


def nth_or_404(things: Sequence[T], index: int) -> T:
    if index >= len(things):
        raise Http404
    return things[index]
