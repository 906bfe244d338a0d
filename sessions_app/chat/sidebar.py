"""The sidebar: chats of a person by age and in folders, or what a search finds."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from itertools import groupby
from typing import Any, NamedTuple
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.db.models import F, Q, QuerySet, Window
from django.db.models.functions import RowNumber
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.functional import cached_property
from django.views.decorators.http import require_safe

from sessions_app.accounts.requests import AuthenticatedRequest
from sessions_app.models import Folder, Session
from sessions_app.models.prepared import Reading, parameter
from sessions_app.models.session import UNTITLED, session_address
from sessions_app.models.session_queries import SessionQuerySet
from sessions_app.search import find
from sessions_app.values import uuid_or_none

SIDE_LIMIT = 60
"""Chats listed; the others are on the page with all of them."""

FOLDER_CHATS = 30
"""Chats listed of a folder."""

SEARCH_HITS = 20


PINNED = "Pinned"
AGES = (
    (timedelta(0), "Today"),
    (timedelta(days=1), "Yesterday"),
    (timedelta(days=7), "Previous 7 days"),
    (timedelta(days=30), "Previous 30 days"),
)
OLDER = "Older"


class SideChat(NamedTuple):
    """A chat as the sidebar names it."""

    public: UUID
    title: str
    updated_at: datetime
    pinned_at: datetime | None
    folder_id: int | None

    @property
    def shown_title(self) -> str:
        return self.title or UNTITLED

    def get_absolute_url(self) -> str:
        return session_address(self.public)


@dataclass(frozen=True, slots=True)
class SideGroup:
    title: str
    sessions: Sequence[SideChat]

    @property
    def is_pinned(self) -> bool:
        return self.title == PINNED


@dataclass(frozen=True, slots=True)
class SideFolder:
    folder: Folder
    sessions: Sequence[SideChat]
    has_more: bool


class Sidebar:
    """What the sidebar of a person lists; only a template that names a list asks the database."""

    def __init__(self, user: User | None) -> None:
        # Pages of errors may be made before the person is known.
        self._user = user if user is not None and user.is_authenticated else None

    @cached_property
    def _newest(self) -> list[SideChat]:
        """Pinned chats and those in no folder, one more than are shown."""
        return [SideChat(*row) for row in _newest_reading.all(owner=self._user.pk)] if self._user else []

    @cached_property
    def groups(self) -> list[SideGroup]:
        return list(grouped(self._newest[:SIDE_LIMIT], timezone.localdate()))

    @property
    def is_cut(self) -> bool:
        return len(self._newest) > SIDE_LIMIT

    @cached_property
    def total(self) -> int:
        """All listed chats, those in folders too."""
        return Session.objects.of(self._user).listed().count() if self._user else 0

    @cached_property
    def folders(self) -> list[SideFolder]:
        """Every folder with its newest chats; pinned ones stand above, with the other pinned ones."""
        folders = _folders_reading.all(owner=self._user.pk) if self._user else ()
        inside = defaultdict(list)
        for row in _in_folders_reading.all(owner=self._user.pk) if self._user and folders else ():
            chat = SideChat(*row[: len(SideChat._fields)])
            inside[chat.folder_id].append(chat)
        return [
            SideFolder(folder, inside[folder.pk][:FOLDER_CHATS], len(inside[folder.pk]) > FOLDER_CHATS)
            for folder in folders
        ]


def _listed() -> SessionQuerySet:
    return Session.objects.owned_by(parameter(Session, "owner")).listed()


def _newest_query() -> QuerySet[Session, Any]:
    found = _listed().filter(Q(folder=None) | Q(pinned_at__isnull=False))
    order = (F("pinned_at").desc(nulls_last=True), "-updated_at")
    return found.order_by(*order).values_list(*SideChat._fields)[: SIDE_LIMIT + 1]


def _folders_query() -> QuerySet[Folder]:
    return Folder.objects.filter(owner=parameter(Folder, "owner"))


def _in_folders_query() -> QuerySet[Session, Any]:
    place = Window(RowNumber(), partition_by="folder_id", order_by="-updated_at")
    found = _listed().exclude(folder=None).filter(pinned_at=None).annotate(place=place)
    newest = found.filter(place__lte=FOLDER_CHATS + 1).order_by("folder_id", "-updated_at")
    return newest.values_list(*SideChat._fields)


_newest_reading: Reading[tuple[Any, ...]] = Reading(_newest_query)
_folders_reading: Reading[Folder] = Reading(_folders_query)
_in_folders_reading: Reading[tuple[Any, ...]] = Reading(_in_folders_query)


def sidebar(request: HttpRequest) -> dict[str, Any]:
    """Context processor."""
    return {"sidebar": Sidebar(getattr(request, "user", None)), "side_limit": SIDE_LIMIT}


def grouped(sessions: Iterable[SideChat], today: date) -> Iterator[SideGroup]:
    """`sessions` come pinned ones first, the others newest first."""
    for title, group in groupby(sessions, lambda session: _title_for(session, today)):
        yield SideGroup(title, list(group))


def _title_for(session: SideChat, today: date) -> str:
    if session.pinned_at is not None:
        return PINNED
    age = today - _local_day(session.updated_at)
    return next((title for limit, title in AGES if age <= limit), OLDER)


def _local_day(moment: datetime) -> date:
    return timezone.localtime(moment).date()


@login_required
@require_safe
def side_list(request: AuthenticatedRequest) -> HttpResponse:
    """The list as a fragment; with `q` search results. `at` is the chat that is open."""
    query = request.GET.get("q", "").strip()
    context: dict[str, Any] = {"at": uuid_or_none(request.GET.get("at", ""))}
    if query:
        context["side_found"] = find(request.user, query, hits=SEARCH_HITS)
    return render(request, "chat/side_list.html", context)
