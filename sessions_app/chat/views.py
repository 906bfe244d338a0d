"""Pages and fragments of the chat. Everything is looked up among the sessions of the person who asks."""

from typing import Any
from uuid import UUID

from django.conf import settings as configured
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST
from django_htmx.http import HttpResponseClientRefresh
from django_htmx.middleware import HtmxDetails

from sessions_app.chat.forms import SessionForm, TitleForm
from sessions_app.chat.pages import SIDE_LIMIT, ChatPage, SessionList
from sessions_app.chat.samples import SAMPLES, sample_named
from sessions_app.chat.transcript import Transcript, view_run
from sessions_app.models import Run, Session, Turn


class Request(HttpRequest):
    """A request of a signed-in person."""

    user: User
    htmx: HtmxDetails


def own_session(request: Request, public: UUID, *related: str) -> Session:
    """The person's session; somebody else's does not exist."""
    rows = Session.objects.of(request.user)
    return get_object_or_404(rows.select_related(*related) if related else rows, public=public)


@login_required
@require_GET
def sessions(request: Request) -> HttpResponse:
    page = SessionList.of(request.user, request.GET.get("q", "").strip())
    if request.htmx:
        return render(request, "chat/session_list.html", {"page": page})
    return render(request, "chat/sessions.html", {"page": page, "samples": SAMPLES})


@login_required
@require_http_methods(["GET", "POST"])
def new_session(request: Request) -> HttpResponse:
    """GET shows the form. POST makes a session from it, from a sample, or (`quick`) with no settings."""
    session = Session(owner=request.user, model=configured.PIPEWEB_MODEL)
    if "quick" in request.POST:
        return _start_quickly(session, request.POST.get("sample", ""))
    form = SessionForm(request.POST or None, instance=session)
    if request.method == "POST" and form.is_valid():
        return redirect(form.save())
    return render(request, "chat/new.html", {"form": form})


def _start_quickly(session: Session, key: str) -> HttpResponse:
    sample = sample_named(key)
    if sample is not None:
        session.purpose, session.background = sample.purpose, sample.background
    session.save()
    return redirect(session)


@login_required
@require_GET
def session(request: Request, public: UUID) -> HttpResponse:
    """The chat. With `before=<turn>` only what is older than that turn, for “Show earlier”."""
    found = own_session(request, public, "head")
    if "before" in request.GET:
        return _earlier(request, found)
    page = ChatPage.of(found, SessionList.of(request.user, limit=SIDE_LIMIT))
    return render(request, "chat/session.html", {"page": page, "session": found})


def _earlier(request: Request, found: Session) -> HttpResponse:
    form_value = request.GET["before"]
    turn = get_object_or_404(
        Turn.objects.select_related("parent"), session=found, public=_uuid_or_none(form_value)
    )
    context = {"session": found, "transcript": Transcript.ending_at(turn.parent)}
    return render(request, "chat/transcript.html", context)


def _uuid_or_none(value: str) -> UUID | None:
    try:
        return UUID(value)
    except ValueError:
        return None


@login_required
@require_GET
def run(request: Request, public: UUID, run: UUID) -> HttpResponse:
    """One run as a fragment: what the live article is replaced by when the run is over."""
    found = own_session(request, public)
    row = get_object_or_404(Run.objects.select_related("trigger"), session=found, public=run)
    return render(request, "chat/run.html", {"session": found, "view": view_run(found, row)})


@login_required
@require_http_methods(["GET", "POST"])
def settings(request: Request, public: UUID) -> HttpResponse:
    found = own_session(request, public)
    form = SessionForm(request.POST or None, instance=found)
    if request.method == "POST" and form.is_valid():
        form.save()
        # Title, model and empty state may all have changed; a draft and a live answer survive a reload.
        return HttpResponseClientRefresh()
    return render(request, "chat/settings.html", {"session": found, "form": form})


@login_required
@require_http_methods(["GET", "POST"])
def rename(request: Request, public: UUID) -> HttpResponse:
    """GET gives the row as a form (`?cancel` as it was), POST the renamed row."""
    found = own_session(request, public)
    form = TitleForm(request.POST or None, initial={"title": found.title})
    if request.method == "POST" and form.is_valid():
        found.rename(form.cleaned_data["title"])
        return _row(request, found)
    if "cancel" in request.GET:
        return _row(request, found)
    return render(request, "chat/rename.html", {"session": found, "form": form})


def _row(request: Request, found: Session) -> HttpResponse:
    context: dict[str, Any] = {"session": found, "preview": found.head.text if found.head else ""}
    return render(request, "chat/session_row.html", context)


@login_required
@require_POST
def delete(request: Request, public: UUID) -> HttpResponse:
    found = own_session(request, public)
    found.hide()
    messages.success(request, f"“{found.shown_title}” is deleted.")
    return redirect("sessions")
