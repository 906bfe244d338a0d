"""The list of sessions, and actions on them: pin, archive, delete, undo."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self
from uuid import UUID

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import AnonymousUser, User
from django.db.models import QuerySet
from django.db.models.functions import Left
from django.http import HttpResponse, HttpResponseBadRequest
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from sessions_app.accounts.requests import AuthenticatedRequest, page_before
from sessions_app.markup import plain
from sessions_app.models import Folder, Run, Session
from sessions_app.models.session_queries import LIST_ACTIONS
from sessions_app.wording.sessions import DONE, done

LIST_LIMIT = 200
PREVIEW_SOURCE = 180
"""Characters of a turn that its preview is made of."""

PREVIEW_LENGTH = 76
"""A line of the list has no room for more."""

LIST_COLUMNS = ("public", "title", "updated_at", "owner_id", "pinned_at", "archived_at", "folder__name")


@dataclass(frozen=True, slots=True)
class SessionList:
    """The sessions of one person, newest first, pinned ones separately."""

    pinned: Sequence[Session]
    sessions: Sequence[Session]
    has_more: bool
    is_archive: bool = False
    folder: Folder | None = None

    @classmethod
    def of(cls, owner: User | AnonymousUser, limit: int = LIST_LIMIT, folder: Folder | None = None) -> Self:
        """The list of the owner's sessions; with `folder` only those in it."""
        listed = Session.objects.of(owner).listed()
        if folder is not None:
            listed = listed.filter(folder=folder)
        pinned = _rows(listed.exclude(pinned_at=None).order_by("-pinned_at"), limit)
        found = _rows(listed.filter(pinned_at=None), limit + 1)
        return cls(pinned, found[:limit], len(found) > limit, folder=folder)

    @classmethod
    def archive_of(cls, owner: User | AnonymousUser) -> Self:
        found = _rows(Session.objects.of(owner).archived(), LIST_LIMIT + 1)
        return cls((), found[:LIST_LIMIT], len(found) > LIST_LIMIT, is_archive=True)

    @property
    def is_empty(self) -> bool:
        return not self.pinned and not self.sessions


def preview_of(text: str) -> str:
    """The beginning of a turn as plain text, on one line."""
    shown = plain(text[:PREVIEW_SOURCE])
    return shown if len(shown) <= PREVIEW_LENGTH else f"{shown[: PREVIEW_LENGTH - 1]}…"


def _rows(sessions: QuerySet[Session], limit: int) -> list[Session]:
    listed = sessions.select_related("folder").only(*LIST_COLUMNS)
    rows = listed.annotate(start=Left("head__text", PREVIEW_SOURCE))[:limit]
    for session in rows:
        session.preview = preview_of(session.start or "")
    return list(rows)


class UUIDListField(forms.TypedMultipleChoiceField):
    """Any UUIDs instead of a fixed set of choices."""

    def __init__(self) -> None:
        super().__init__(coerce=UUID)

    def valid_value(self, value: Any) -> bool:
        return True


class ActionForm(forms.Form):
    """One action of `models.session_queries.LIST_ACTIONS` on the named sessions."""

    act = forms.ChoiceField(choices=[(act, act) for act in LIST_ACTIONS])
    session = UUIDListField()


UNDO_ACTIONS = {"delete": "restore", "archive": "unarchive"}


@login_required
@require_POST
def change_sessions(request: AuthenticatedRequest) -> HttpResponse:
    """Applies one action to the named sessions; those of other people are ignored."""
    form = ActionForm(request.POST)
    if not form.is_valid():
        return HttpResponseBadRequest("There is no such act, or no chat was named.")
    name, publics = form.cleaned_data["act"], form.cleaned_data["session"]
    sessions = Session.objects.filter(owner=request.user, public__in=publics)
    titles = [session.shown_title for session in sessions.only("title")[:1]]
    count = sessions.apply_action(name)
    if name in DONE and count:
        _add_message(request, done(name, titles[0], count), name, publics)
    back = page_before(request)
    if name == "delete" and any(str(public) in back for public in publics):
        back = reverse("sessions")  # the page was that of a chat that is gone
    return redirect(back)


@login_required
@require_POST
def erase_temporary(request: AuthenticatedRequest, public: UUID) -> HttpResponse:
    """Erases a temporary session for good."""
    found = get_object_or_404(Session.objects.of(request.user), public=public, temporary=True)
    if Run.objects.active_in(found.pk) is not None:
        messages.error(request, "This chat is answering. Stop the answer, then erase it.")
        return redirect(found)
    found.erase()
    messages.success(request, "The temporary chat is erased.")
    return redirect("home")


def _add_message(request: AuthenticatedRequest, text: str, action: str, publics: list[UUID]) -> None:
    # The tags hold what the undo form submits (templatetags/undo.py).
    undo = ["undo", UNDO_ACTIONS[action], *map(str, publics)] if action in UNDO_ACTIONS else []
    messages.success(request, text, extra_tags=" ".join(undo))
