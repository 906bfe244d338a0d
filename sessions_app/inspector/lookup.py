"""Look-ups that raise Http404 for what the person does not own."""

from collections.abc import Sequence
from typing import TypeVar
from uuid import UUID

from django.db.models import QuerySet
from django.http import Http404, HttpRequest
from django.shortcuts import get_object_or_404

from sessions_app.accounts.reading import readable_session
from sessions_app.inspector.stages import refused_runs
from sessions_app.models import Exchange, Run, Session
from sessions_app.models.prepared import Reading, parameter

T = TypeVar("T")

LARGEST = 2**31 - 1
"""The largest number of an exchange that every database can compare."""

OTHERS = ("previous__number", "resend_of__number", "resend_of__error", "continues__number")
"""What is read of other exchanges: their large columns only where they are asked for."""


def session_or_404(request: HttpRequest, public: UUID) -> Session:
    """Also for a member of staff who may read it now."""
    return readable_session(request, public)


def exchange_or_404(request: HttpRequest, public: UUID, number: int) -> Exchange:
    session = readable_session(request, public)
    found = _numbered.first(session=session.pk, number=number) if number <= LARGEST else None
    if found is None:
        raise Http404
    found.session = session
    return found


def _numbered_query() -> QuerySet[Exchange]:
    own = [field.name for field in Exchange._meta.concrete_fields]
    of_run = [f"run__{field.name}" for field in Run._meta.concrete_fields]
    rows = Exchange.objects.select_related("run", "previous", "resend_of", "continues")
    found = rows.filter(session=parameter(Exchange, "session"), number=parameter(Exchange, "number"))
    return found.only(*own, *of_run, *OTHERS)


_numbered: Reading[Exchange] = Reading(_numbered_query)


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
