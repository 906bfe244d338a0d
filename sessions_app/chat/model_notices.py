"""What is about to end of a model: in the list of models, in a session, and the switch to its successor."""

from dataclasses import dataclass
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from sessions_app.accounts.requests import AuthenticatedRequest, own_chat
from sessions_app.context.model_lookup import facts_of, title_of
from sessions_app.context.model_notices import notices_of
from sessions_app.models import Session
from sessions_app.wording import model_notices


@dataclass(frozen=True, slots=True)
class ShownNotice:
    """`way_on` is the model to switch to, empty for none."""

    sentence: str
    is_pressing: bool
    way_on: str


def model_label(name: str) -> str:
    """The model in a list to choose from, with what limits it."""
    facts = facts_of(name)
    if not facts.known:
        remarks = ["not in the capability table"]
    else:
        remarks = [] if facts.has_explicit_caches else ["no explicit caches"]
    remarks += map(model_notices.label, notices_of(name))
    title = title_of(name)
    return f"{title} ({'; '.join(remarks)})" if remarks else title


def shown_notices(model: str) -> tuple[ShownNotice, ...]:
    """What a person who goes on with the model should know now."""
    told = (notice for notice in notices_of(model) if notice.is_end or notice.is_pressing)
    return tuple(
        ShownNotice(model_notices.sentence(notice), notice.is_pressing, notice.way_on) for notice in told
    )


@login_required
@require_POST
def switch_model(request: AuthenticatedRequest, public: UUID) -> HttpResponse:
    """The session goes on with the successor of its model. Not found where it has none."""
    session = own_chat(request, public)
    way_on = next((notice.way_on for notice in notices_of(session.model) if notice.way_on), "")
    if not way_on:
        raise Http404
    Session.objects.filter(pk=session.pk, model=session.model).update(model=way_on)
    return redirect(session)
