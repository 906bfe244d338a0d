"""Who may read a session: its owner, and for a while a member of staff who said why."""

from functools import cache
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from sessions_app.accounts.requests import AuthenticatedRequest
from sessions_app.log_codes import LoggedAction
from sessions_app.models import AuditEntry, ContentGrant, Session
from sessions_app.models.audit_entry import record
from sessions_app.models.prepared import Reading, parameter
from sessions_app.wording import audit_log

SHOWN = 200
"""Readings that the page lists, the newest."""


def readable_session(request: HttpRequest, public: UUID, *related: str) -> Session:
    """The session if it belongs to the user, or if they may read it now (`Session.grant`). Raises Http404.

    What is read by a grant stands in the audit log before it is shown. Nothing is changed by one.
    """
    rows = Session.objects.select_related(*related) if related else Session.objects.all()
    own = _own(related).first(owner=request.user.pk, public=public) if request.user.pk else None
    if own is not None:
        return own
    found = get_object_or_404(rows, public=public, deleted_at=None, is_importing=False)
    grant = ContentGrant.objects.of(request.user, found) if request.method in ("GET", "HEAD") else None
    if grant is None:
        raise Http404
    _log_reading(request, found, grant)
    found.grant = grant
    return found


@cache
def _own(related: tuple[str, ...]) -> Reading[Session]:
    """Sessions of a person by public id; every page of one begins with it."""

    def query() -> QuerySet[Session]:
        rows = Session.objects.select_related(*related) if related else Session.objects.all()
        return rows.owned_by(parameter(Session, "owner")).filter(public=parameter(Session, "public"))

    return Reading(query)


def _log_reading(request: HttpRequest, session: Session, grant: ContentGrant) -> None:
    """Each page once for each grant: open pages ask again and again."""
    match = request.resolver_match
    steps = {} if match is None else {k: v for k, v in match.kwargs.items() if k != "public"}
    page = " ".join(map(str, ((match.url_name if match else ""), *steps.values())))
    read = {"actor_key": request.user.pk, "action": LoggedAction.CONTENT_READ, "at__gte": grant.opened_at}
    if not AuditEntry.objects.filter(key=str(session.public), figures__page=page, **read).exists():
        record(LoggedAction.CONTENT_READ, request.user, session, reason=grant.reason, page=page)


@login_required
@never_cache
@require_safe
def readings(request: AuthenticatedRequest) -> HttpResponse:
    """Who read which session of this person, when and why."""
    rows = AuditEntry.objects.readings_of(request.user.pk)[:SHOWN]
    named = [row.key for row in rows if row.kind == "session"]
    sessions = {str(one.public): one for one in Session.objects.of(request.user).filter(public__in=named)}
    listed = [
        {
            "at": row.at,
            "who": audit_log.actor(row.actor, row.actor_key, row.action),
            "what": audit_log.title(row.action),
            "session": sessions.get(row.key),
            "details": audit_log.details(row.figures),
        }
        for row in rows
    ]
    return render(request, "accounts/readings.html", {"readings": listed})
