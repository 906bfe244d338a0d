"""Requests of signed-in users and their sessions."""

from uuid import UUID

from django.contrib.auth.models import User
from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from django_htmx.middleware import HtmxDetails

from sessions_app.models import Session


class AuthenticatedRequest(HttpRequest):
    user: User
    htmx: HtmxDetails


def own_session(request: AuthenticatedRequest, public: UUID, *related: str) -> Session:
    """Return the session if it belongs to the user. Raise Http404."""
    rows = Session.objects.of(request.user)
    return get_object_or_404(rows.select_related(*related) if related else rows, public=public)
