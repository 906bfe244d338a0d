"""Choosing a model: for a chat that begins, for one that goes on, for one answer."""

from uuid import UUID

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_http_methods, require_safe

from sessions_app.accounts.requests import AuthenticatedRequest, own_chat
from sessions_app.chat.model_offers import ChosenModel, model_offers
from sessions_app.chat.transcript import view_run
from sessions_app.models import Run
from sessions_app.wording import models as wording


@login_required
@require_safe
def models(request: AuthenticatedRequest) -> HttpResponse:
    """The models for a chat that begins; `model` and `thinking_level` are those chosen so far."""
    chosen = ChosenModel.typed(
        request.GET.get("model", ""),
        request.GET.get("thinking_level", ""),
        otherwise=settings.PIPEWEB_MODEL,
    )
    return render(request, "chat/models.html", {"offers": model_offers(chosen)})


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def session_model(request: AuthenticatedRequest, public: UUID) -> HttpResponse:
    """GET shows the models for a chat; POST chooses one and says from when on it answers."""
    session = own_chat(request, public)
    if request.method != "POST":
        offers = model_offers(ChosenModel.of(session))
        return render(request, "chat/models.html", {"session": session, "offers": offers})
    chosen = ChosenModel.typed(
        request.POST.get("model", ""), request.POST.get("thinking_level", ""), otherwise=session.model
    )
    before = ChosenModel.of(session)
    session.choose_model(chosen.name, chosen.level)
    is_answering = Run.objects.active_in(session.pk) is not None
    case = "same" if chosen == before else "after_this" if is_answering else "next"
    said = wording.chosen(case, chosen.title)
    return render(request, "chat/model_chosen.html", {"said": said, "chosen": chosen})


@login_required
@require_safe
def other_models(request: AuthenticatedRequest, public: UUID, run: UUID) -> HttpResponse:
    """The models that may answer the message of a run again."""
    session = own_chat(request, public)
    row = get_object_or_404(Run.objects.select_related("trigger"), session=session, public=run)
    view = view_run(session, row)
    asked = view.last_exchange.model if view.last_exchange else row.model or session.model
    offers = [one for one in model_offers(ChosenModel(asked)) if not one.is_over]
    return render(
        request, "chat/other_models.html", {"session": session, "view": view, "offers": offers, "run": row}
    )
