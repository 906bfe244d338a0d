"""Cards about caching and money: the account of one answer, the outlook on the next."""

from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_GET

from sessions_app.chat.account import RequestAccount
from sessions_app.chat.outlook import Outlook
from sessions_app.chat.views import Request, own_session
from sessions_app.models import Run

UNSHOWN = ("manifest", "stages", "notes", "usage", "ledger")
"""Columns of an exchange that can be large and that no card shows."""


@login_required
@require_GET
def account(request: Request, public: UUID, run: UUID) -> HttpResponse:
    """Why each request of a run cost what it cost, as a fragment."""
    found = own_session(request, public)
    row = get_object_or_404(Run, session=found, public=run)
    requests = [RequestAccount.of(one) for one in row.exchanges.defer(*UNSHOWN)]
    return render(request, "chat/account_card.html", {"session": found, "requests": requests})


@login_required
@require_GET
def outlook(request: Request, public: UUID) -> HttpResponse:
    """The line below the composer and the sum in the header, as they are now."""
    found = own_session(request, public, "head")
    return render(request, "chat/outlook_news.html", {"session": found, "outlook": Outlook.of(found)})
