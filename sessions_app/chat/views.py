"""Pages and fragments of the chat. Everything is looked up among the sessions of the person who asks."""

from typing import Any
from uuid import UUID

from django.conf import settings as configured
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods
from django_htmx.http import HttpResponseClientRefresh
from django_htmx.middleware import HtmxDetails

from sessions_app.chat.forms import TitleForm
from sessions_app.chat.lists import SIDE_LIMIT, SessionList, preview_of
from sessions_app.chat.pages import ChatPage
from sessions_app.chat.samples import SAMPLES, sample_named
from sessions_app.chat.session_form import SessionForm
from sessions_app.chat.transcript import Transcript, view_run
from sessions_app.chat.zone import zone_of
from sessions_app.models import Run, Session, Turn
from sessions_app.search import find

PALETTE_HITS = 8


class Request(HttpRequest):
    """A request of a signed-in person."""

    user: User
    htmx: HtmxDetails


def own_session(request: Request, public: UUID, *related: str) -> Session:
    """The person's session; somebody else's does not exist."""
    rows = Session.objects.of(request.user)
    return get_object_or_404(rows.select_related(*related) if related else rows, public=public)


@login_required
@never_cache
@require_GET
def sessions(request: Request) -> HttpResponse:
    """The list; with `q` what a search found, with `archive` what was put away."""
    words = request.GET.get("q", "").strip()
    context: dict[str, Any] = {"words": words, "samples": SAMPLES}
    if words:
        context["found"] = find(request.user, words)
    elif "archive" in request.GET:
        context["page"] = SessionList.archive_of(request.user)
    else:
        context["page"] = SessionList.of(request.user)
    return render(request, "chat/session_list.html" if request.htmx else "chat/sessions.html", context)


@login_required
@require_GET
def palette(request: Request) -> HttpResponse:
    """Options for the palette: what was found, or the newest sessions while nothing is typed."""
    words = request.GET.get("q", "").strip()
    context: dict[str, Any] = {"found": find(request.user, words, hits=PALETTE_HITS)} if words else {}
    if not words:
        context["recent"] = SessionList.of(request.user, limit=PALETTE_HITS).sessions
    return render(request, "chat/palette_found.html", context)


@login_required
@require_http_methods(["GET", "POST"])
def new_session(request: Request) -> HttpResponse:
    """GET shows the form. POST makes a session from it, from a sample, or (`quick`) with no settings."""
    session = Session(owner=request.user, model=configured.PIPEWEB_MODEL)
    session.settings = {"time_zone": zone_of(request)}
    session.temporary = "temporary" in request.POST
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
@never_cache  # “Back” would show the conversation as it was when the page was opened.
@require_GET
def session(request: Request, public: UUID) -> HttpResponse:
    """The chat. With `leaf=<turn>` the branch through that turn, with `before=<turn>` only what is older
    than that turn, for “Show earlier”."""
    found = own_session(request, public, "head")
    if "before" in request.GET:
        return _earlier(request, found)
    at = _turn(found, request.GET["leaf"]) if "leaf" in request.GET else None
    page = ChatPage.of(found, SessionList.of(request.user, limit=SIDE_LIMIT), at)
    return render(request, "chat/session.html", {"page": page, "session": found})


def _earlier(request: Request, found: Session) -> HttpResponse:
    turn = _turn(found, request.GET["before"])
    context = {"session": found, "transcript": Transcript.ending_at(turn.parent)}
    return render(request, "chat/transcript.html", context)


def _turn(found: Session, value: str) -> Turn:
    turns = Turn.objects.select_related("parent")
    return get_object_or_404(turns, session=found, public=_uuid_or_none(value))


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
    runs = Run.objects.select_related("trigger__content", "trigger__run")
    row = get_object_or_404(runs, session=found, public=run)
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
    form.open_at(request.GET.get("field", ""))
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
    preview = preview_of(found.head.text) if found.head else ""
    return render(request, "chat/session_row.html", {"session": found, "preview": preview})
