"""Views of old messages that the model let go: what went, and putting it back."""

from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_POST, require_safe
from django_htmx.http import HttpResponseClientRefresh

from sessions_app.accounts.requests import AuthenticatedRequest, own_chat
from sessions_app.errors import OverLimit, PipewebError
from sessions_app.models import HistoryDrop, Session
from sessions_app.runs.history_drops import put_back
from sessions_app.wording.refusals import error_texts


@login_required
@require_safe
def history_drop(request: AuthenticatedRequest, public: UUID, drop: str) -> HttpResponse:
    return _render(request, own_chat(request, public), drop)


@login_required
@require_POST
def undo_drop(request: AuthenticatedRequest, public: UUID, drop: str) -> HttpResponse:
    """Puts the messages back and shows the chat anew; refused, with the reason, while it answers."""
    session = own_chat(request, public)
    get_object_or_404(HistoryDrop, session=session, key=drop)
    try:
        put_back(session.pk, drop)
    except OverLimit:
        raise
    except PipewebError as error:
        return _render(request, session, drop, " ".join(error_texts(error)).strip())
    return HttpResponseClientRefresh()


def _render(request: AuthenticatedRequest, session: Session, key: str, problem: str = "") -> HttpResponse:
    drop = get_object_or_404(HistoryDrop, session=session, key=key)
    context = {"session": session, "drop": drop, "problem": problem}
    return render(request, "chat/history_drop.html", context)
