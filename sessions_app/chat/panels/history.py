"""The parts of the conversation that were put away: history chunks of the branch in view."""

from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_GET

from sessions_app.chat.views import Request, own_session
from sessions_app.models import HistoryChunk, Turn


@login_required
@require_GET
def chunks(request: Request, public: UUID) -> HttpResponse:
    """The list, as the next request would send it."""
    session = own_session(request, public)
    turns, newest = Turn.objects.buffered(session.head_id)
    keys = [int(chunk.key) for chunk in HistoryChunk.objects.chain(newest)]
    found = HistoryChunk.objects.filter(session=session, pk__in=keys)
    return render(
        request, "chat/panels/chunks.html", {"session": session, "chunks": found, "live": len(turns)}
    )


@login_required
@require_GET
def chunk(request: Request, public: UUID, number: int) -> HttpResponse:
    """The text of one."""
    session = own_session(request, public)
    found = get_object_or_404(session.history_chunks.select_related("content"), pk=number)
    return render(request, "chat/panels/raw.html", {"text": found.content.bytes.decode()})
