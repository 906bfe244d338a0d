"""The gauge below the composer, for when an answer has changed it."""

from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from sessions_app.chat.views import Request, own_session
from sessions_app.chat.window import Gauge


@login_required
@require_GET
def gauge(request: Request, public: UUID) -> HttpResponse:
    session = own_session(request, public)
    return render(request, "chat/gauge.html", {"session": session, "gauge": Gauge.of(session)})
