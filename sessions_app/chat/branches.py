"""Branches of a conversation: look at another one, correct an answer, fork into a new session."""

from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from sessions_app.chat.forms import WordingForm, first_error
from sessions_app.chat.transcript import Transcript
from sessions_app.chat.views import Request, own_session
from sessions_app.errors import RunError
from sessions_app.models import Session
from sessions_app.runs import branches


@login_required
@require_POST
def switch(request: Request, public: UUID, turn: UUID) -> HttpResponse:
    """Brings the branch through this turn into view; answers the transcript, with `page` the whole page."""
    found = own_session(request, public)
    try:
        session = branches.switch(found.pk, turn)
    except RunError as error:
        return refuse(error)
    return redirect(session) if "page" in request.POST else show(request, session)


@login_required
@require_http_methods(["GET", "POST"])
def wording(request: Request, public: UUID, turn: UUID) -> HttpResponse:
    """GET gives the Markdown of a turn; POST puts other words beside an answer, on a branch of their own."""
    found = own_session(request, public)
    row = get_object_or_404(found.turns, public=turn)
    if request.method == "GET":
        return HttpResponse(row.text, content_type="text/plain; charset=utf-8")
    form = WordingForm(request.POST)
    if not form.is_valid():
        return refuse(RunError(first_error(form), hint="Change it, or cancel."))
    try:
        return show(request, branches.correct(found.pk, turn, form.cleaned_data["text"]))
    except RunError as error:
        return refuse(error)


@login_required
@require_POST
def fork(request: Request, public: UUID, turn: UUID) -> HttpResponse:
    """A new session that begins with the branch up to this turn."""
    found = own_session(request, public)
    try:
        return redirect(branches.fork(found.pk, turn))
    except RunError as error:
        return refuse(error)


def show(request: Request, session: Session) -> HttpResponse:
    context = {"session": session, "transcript": Transcript.ending_at(session.head)}
    return render(request, "chat/conversation.html", context)


def refuse(error: RunError) -> HttpResponse:
    """409: the session is in another state than the page thought."""
    return JsonResponse({"message": error.message, "hint": error.hint}, status=409)
