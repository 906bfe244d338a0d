"""What is done with whole sessions, one or several: pin, archive, delete, and all of it undone."""

from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse, HttpResponseBadRequest
from django.shortcuts import get_object_or_404, redirect
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST

from sessions_app.chat.forms import ActForm
from sessions_app.chat.views import Request
from sessions_app.models import Run, Session

UNDONE = {"delete": "restore", "archive": "unarchive"}
WORDS = {"delete": "deleted", "archive": "in the archive", "restore": "back", "unarchive": "back in the list"}


@login_required
@require_POST
def act(request: Request) -> HttpResponse:
    """One act on the person's own sessions among those named; what is not theirs is passed over."""
    form = ActForm(request.POST)
    if not form.is_valid():
        return HttpResponseBadRequest("There is no such act, or no session was named.")
    name, publics = form.cleaned_data["act"], form.cleaned_data["session"]
    sessions = Session.objects.filter(owner=request.user, public__in=publics)
    titles = [session.shown_title for session in sessions.only("title")[:2]]
    done = sessions.carry_out(name)
    if name in WORDS and done:
        _say(request, name, titles, done, publics)
    back = request.POST.get("next", "")
    return redirect(back if url_has_allowed_host_and_scheme(back, None) else "sessions")


@login_required
@require_POST
def leave(request: Request, public: UUID) -> HttpResponse:
    """Erases a temporary session for good."""
    found = get_object_or_404(Session.objects.of(request.user), public=public, temporary=True)
    if Run.objects.active_in(found.pk) is not None:
        messages.error(request, "This session is answering. Stop the answer, then erase it.")
        return redirect(found)
    found.erase()
    messages.success(request, "The temporary session is erased.")
    return redirect("sessions")


def _say(request: Request, name: str, titles: list[str], count: int, publics: list[UUID]) -> None:
    subject = f"“{titles[0]}” is" if count == 1 else f"{count} sessions are"
    # The tags carry what undoing needs: the notice's form sends them back (chat/undo.html).
    undo = " ".join(["undo", UNDONE[name], *map(str, publics)]) if name in UNDONE else ""
    messages.success(request, f"{subject} {WORDS[name]}.", extra_tags=undo)
