"""Folders of the sidebar: make, rename, order, collapse, delete, and move chats into one."""

from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db import transaction
from django.http import Http404, HttpResponse, HttpResponseBadRequest
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django_htmx.http import HttpResponseClientRefresh

from sessions_app.accounts.requests import AuthenticatedRequest, page_before
from sessions_app.chat.session_list import UUIDListField
from sessions_app.models import Folder, Session
from sessions_app.models.folder import FOLDER_LIMIT, NAME_LENGTH
from sessions_app.models.personal_limits import lock_person
from sessions_app.values import uuid_or_none
from sessions_app.wording import folders as wording

STEPS = {"up": -1, "down": 1}


class NameForm(forms.Form):
    name = forms.CharField(label="Name", max_length=NAME_LENGTH, widget=forms.TextInput({"autofocus": True}))


class ChatsForm(forms.Form):
    """The chats to be moved."""

    session = UUIDListField()


class MoveForm(ChatsForm):
    """Into a folder, into a new one where it is named, or else out of any."""

    folder = forms.UUIDField(required=False)
    name = forms.CharField(label="Or into a new folder", max_length=NAME_LENGTH, required=False)


def own_folder(request: AuthenticatedRequest, public: UUID | str | None) -> Folder:
    """Returns the folder if it belongs to the person. Raises Http404."""
    return get_object_or_404(Folder.objects.of(request.user), public=uuid_or_none(str(public)))


def named_folder(request: AuthenticatedRequest) -> Folder | None:
    """The folder that the address or the form names for a new chat. Raises Http404."""
    public = request.POST.get("folder") or request.GET.get("folder")
    return own_folder(request, public) if public else None


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def make_folder(request: AuthenticatedRequest) -> HttpResponse:
    """GET gives the form of the dialog, POST makes the folder."""
    form = NameForm(request.POST or None)
    if request.method == "POST" and form.is_valid() and _make(request, form) is not None:
        return _back(request)
    return _name_dialog(request, form)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def rename_folder(request: AuthenticatedRequest, folder: UUID) -> HttpResponse:
    found = own_folder(request, folder)
    form = NameForm(request.POST or None, initial={"name": found.name})
    if request.method == "POST" and form.is_valid():
        # Not `save`, which fails where another page has deleted it.
        Folder.objects.filter(pk=found.pk).update(name=form.cleaned_data["name"])
        return _back(request)
    return _name_dialog(request, form, folder=found)


@login_required
@require_POST
def order_folder(request: AuthenticatedRequest, folder: UUID) -> HttpResponse:
    """One place up or down."""
    found = own_folder(request, folder)
    step = STEPS.get(request.POST.get("way", ""))
    if step is None:
        return HttpResponseBadRequest("A folder goes up or down.")
    found.move(step)
    return _back(request)


@login_required
@require_POST
def collapse_folder(request: AuthenticatedRequest, folder: UUID) -> HttpResponse:
    """Hides the folder's chats with `on`, else shows them."""
    found = own_folder(request, folder)
    Folder.objects.filter(pk=found.pk).update(is_collapsed="on" in request.POST)
    return HttpResponse(status=204)


@login_required
@require_POST
def delete_folder(request: AuthenticatedRequest, folder: UUID) -> HttpResponse:
    found = own_folder(request, folder)
    found.delete()
    messages.success(request, wording.DELETED.format(folder=found.name))
    back = page_before(request)
    return redirect("sessions" if str(folder) in back else back)


@login_required
@require_safe
def choose_folder(request: AuthenticatedRequest) -> HttpResponse:
    """The dialog that moves the named chats."""
    form = ChatsForm(request.GET)
    chats = list(_chats(request, form).select_related("folder")) if form.is_valid() else []
    if not chats:
        raise Http404
    return _move_dialog(request, chats, MoveForm())


@login_required
@require_POST
def move_to_folder(request: AuthenticatedRequest) -> HttpResponse:
    """Moves the named chats; those of other people are ignored. A drop in the sidebar gets its list."""
    form = MoveForm(request.POST)
    if "session" not in request.POST or not form.is_valid():
        return HttpResponseBadRequest("No chat was named, or no folder has this name.")
    chats = list(_chats(request, form))
    if not chats:
        raise Http404
    folder = _make(request, form) if form.cleaned_data["name"] else named_folder(request)
    if form.errors:
        return _move_dialog(request, chats, form)
    Session.objects.filter(pk__in=[chat.pk for chat in chats]).update(folder=folder)
    if request.htmx and request.htmx.target == "side-list":
        return render(request, "chat/side_list.html", {"at": uuid_or_none(request.POST.get("at", ""))})
    name = folder.name if folder else None
    messages.success(request, wording.moved(chats[0].shown_title, len(chats), name))
    return _back(request)


def _chats(request: AuthenticatedRequest, form: forms.Form) -> Any:
    publics = form.cleaned_data["session"]
    return Session.objects.of(request.user).filter(public__in=publics, temporary=False)


def _make(request: AuthenticatedRequest, form: forms.Form) -> Folder | None:
    """None with an error of the form where there are too many."""
    with transaction.atomic():
        lock_person(request.user.pk)
        if Folder.objects.of(request.user).count() < FOLDER_LIMIT:
            return Folder.objects.make(request.user.pk, form.cleaned_data["name"])
    form.add_error("name", wording.TOO_MANY.format(limit=FOLDER_LIMIT))
    return None


def _name_dialog(request: AuthenticatedRequest, form: NameForm, folder: Folder | None = None) -> HttpResponse:
    return render(request, "chat/folder_name.html", {"form": form, "folder": folder})


def _move_dialog(request: AuthenticatedRequest, chats: list[Session], form: MoveForm) -> HttpResponse:
    current = {chat.folder_id for chat in chats}
    context = {
        "chats": chats,
        "form": form,
        "folders": Folder.objects.of(request.user),
        "current": current.pop() if len(current) == 1 else None,
    }
    return render(request, "chat/folder_move.html", context)


def _back(request: AuthenticatedRequest) -> HttpResponse:
    if request.htmx:
        return HttpResponseClientRefresh()
    return redirect(page_before(request))
