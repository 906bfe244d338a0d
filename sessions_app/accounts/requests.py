"""Requests of signed-in users and their sessions."""

from typing import Any, TypeVar
from uuid import UUID

from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import Http404, HttpRequest
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django_htmx.middleware import HtmxDetails

from sessions_app.models import Session

Rows = TypeVar("Rows", bound="QuerySet[Any]")


class AuthenticatedRequest(HttpRequest):
    user: User
    htmx: HtmxDetails


def own_session(request: AuthenticatedRequest, public: UUID, *related: str) -> Session:
    """Returns the session if it belongs to the user. Raises Http404."""
    rows = Session.objects.of(request.user)
    return get_object_or_404(rows.select_related(*related) if related else rows, public=public)


def own_chat(request: AuthenticatedRequest, public: UUID, *related: str) -> Session:
    """The same for a session that the person writes in, which captured ones are not. Raises Http404."""
    rows = Session.objects.of(request.user).chats()
    return get_object_or_404(rows.select_related(*related) if related else rows, public=public)


def own_or_gone(rows: Rows, own: Rows) -> Rows:
    """Returns `own`, which is empty where another page has removed the row. Raises Http404 where `rows` has
    one that is somebody else's.
    """
    if not own.exists() and rows.exists():
        raise Http404
    return own


def page_before(request: AuthenticatedRequest) -> str:
    """The page that a form was on, by its field `next`; without one of ours the list of chats."""
    back = request.POST.get("next", "")
    is_own = url_has_allowed_host_and_scheme(back, {request.get_host()}, require_https=request.is_secure())
    return back if is_own else reverse("sessions")
