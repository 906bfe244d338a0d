"""The sidebar: chats of a person by age, or what a search finds."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from itertools import groupby
from typing import Any

from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.db.models import F
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.functional import SimpleLazyObject
from django.views.decorators.http import require_GET

from sessions_app.accounts.requests import AuthenticatedRequest
from sessions_app.models import Session
from sessions_app.search import find

SIDE_LIMIT = 60
"""Chats listed; the others are on the page with all of them."""

SEARCH_HITS = 20

COLUMNS = ("public", "title", "updated_at", "owner_id", "pinned_at")

PINNED = "Pinned"
AGES = (
    (timedelta(0), "Today"),
    (timedelta(days=1), "Yesterday"),
    (timedelta(days=7), "Previous 7 days"),
    (timedelta(days=30), "Previous 30 days"),
)
OLDER = "Older"


@dataclass(frozen=True, slots=True)
class SideGroup:
    title: str
    sessions: Sequence[Session]


def sidebar(request: HttpRequest) -> dict[str, Any]:
    """Context processor: the groups of the sidebar; only a template that names them asks the database."""
    return {"side_groups": SimpleLazyObject(lambda: _groups_for(getattr(request, "user", None)))}


def _groups_for(user: User | None) -> list[SideGroup]:
    """Pages of errors may be made before the person is known."""
    if user is None or not user.is_authenticated:
        return []
    listed = Session.objects.of(user).listed().only(*COLUMNS)
    order = (F("pinned_at").desc(nulls_last=True), "-updated_at")
    return list(grouped(listed.order_by(*order)[:SIDE_LIMIT], timezone.localdate()))


def grouped(sessions: Iterable[Session], today: date) -> Iterator[SideGroup]:
    """`sessions` come pinned ones first, the others newest first."""
    for title, group in groupby(sessions, lambda session: _title_for(session, today)):
        yield SideGroup(title, list(group))


def _title_for(session: Session, today: date) -> str:
    if session.pinned_at is not None:
        return PINNED
    age = today - _local_day(session.updated_at)
    return next((title for limit, title in AGES if age <= limit), OLDER)


def _local_day(moment: datetime) -> date:
    return timezone.localtime(moment).date()


@login_required
@require_GET
def side_list(request: AuthenticatedRequest) -> HttpResponse:
    """The list as a fragment; with `q` search results. `at` is the chat that is open."""
    query = request.GET.get("q", "").strip()
    context: dict[str, Any] = {"open": request.GET.get("at", "")}
    if query:
        context["found"] = find(request.user, query, hits=SEARCH_HITS)
    return render(request, "chat/side_list.html", context)
