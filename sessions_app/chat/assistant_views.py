"""The assistants of a person and of the installation: the list, the form, and the choice on home."""

from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from sessions_app.accounts.requests import AuthenticatedRequest
from sessions_app.chat.assistant_form import OwnAssistantForm
from sessions_app.chat.model_offers import ChosenModel
from sessions_app.chat.sample_prompts import STARTERS
from sessions_app.models import Assistant
from sessions_app.models.personal_limits import lock_person
from sessions_app.values import uuid_or_none
from sessions_app.wording import assistants as wording


def usable_assistant(request: AuthenticatedRequest, public: str | UUID) -> Assistant | None:
    """One that the person may choose; None for an empty `public`. Raises Http404."""
    if not public:
        return None
    key = public if isinstance(public, UUID) else uuid_or_none(public)
    return get_object_or_404(Assistant.objects.of(request.user), public=key)


def _own(request: AuthenticatedRequest, public: UUID) -> Assistant:
    return get_object_or_404(Assistant.objects.own(request.user), public=public)


@login_required
@never_cache
@require_safe
def assistants(request: AuthenticatedRequest) -> HttpResponse:
    found = Assistant.objects.of(request.user)
    context = {
        "mine": [one for one in found if not one.is_installed],
        "installed": [one for one in found if one.is_installed],
    }
    return render(request, "chat/assistants.html", context)


@login_required
@require_safe
def assistant_choices(request: AuthenticatedRequest) -> HttpResponse:
    """The list on home, as a fragment; `assistant` is the one chosen so far."""
    offers = [
        (one, ChosenModel(one.model, one.thinking_level) if one.model else None)
        for one in Assistant.objects.of(request.user)
    ]
    context = {"offers": offers, "starters": STARTERS, "chosen": request.GET.get("assistant", "")}
    return render(request, "chat/assistant_choices.html", context)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def new_assistant(request: AuthenticatedRequest) -> HttpResponse:
    return _edit(request, Assistant(owner=request.user))


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def edit_assistant(request: AuthenticatedRequest, assistant: UUID) -> HttpResponse:
    return _edit(request, _own(request, assistant))


def _edit(request: AuthenticatedRequest, assistant: Assistant) -> HttpResponse:
    form = OwnAssistantForm(request.POST or None, instance=assistant, owner=request.user)
    if request.method == "POST" and _is_saved(form, request.user.pk):
        return redirect("assistants")
    return render(request, "chat/assistant.html", {"form": form, "assistant": assistant})


def _is_saved(form: OwnAssistantForm, user_id: int) -> bool:
    """A name that was found free is taken before another request of the person looks."""
    with transaction.atomic():
        lock_person(user_id)
        if not form.is_valid():
            return False
        form.save()
        return True


@login_required
@require_POST
def duplicate_assistant(request: AuthenticatedRequest, assistant: UUID) -> HttpResponse:
    """A copy of the person's own, also of one of the installation's; opens its form."""
    original = get_object_or_404(Assistant.objects.of(request.user), public=assistant)
    with transaction.atomic():
        lock_person(request.user.pk)
        copy = original.duplicate(request.user)
    return redirect("edit-assistant", copy.public)


@login_required
@require_POST
def delete_assistant(request: AuthenticatedRequest, assistant: UUID) -> HttpResponse:
    """Chats that were made with it keep what they have."""
    row = _own(request, assistant)
    row.delete()
    messages.success(request, wording.deleted(row.name))
    return redirect("assistants")
