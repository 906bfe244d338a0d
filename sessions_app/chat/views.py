"""Pages and fragments of the chat, limited to the sessions of the user."""

from typing import Any
from uuid import UUID

from django import forms
from django.conf import settings as configured
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe
from django_htmx.http import HttpResponseClientRefresh, trigger_client_event

from sessions_app.accounts.reading import readable_session
from sessions_app.accounts.requests import AuthenticatedRequest, own_chat, own_session
from sessions_app.chat.answer_cost import AnswerUsage, requests_of
from sessions_app.chat.assistant_views import usable_assistant
from sessions_app.chat.captured_page import CapturedPage
from sessions_app.chat.context_usage import ChatPage, ContextUsage
from sessions_app.chat.cost_forecast import CostForecast
from sessions_app.chat.folder_views import named_folder, own_folder
from sessions_app.chat.import_views import imports_context
from sessions_app.chat.model_notices import shown_notices
from sessions_app.chat.model_offers import ChosenModel
from sessions_app.chat.open_files import open_files
from sessions_app.chat.sample_prompts import STARTERS, available_samples, find_sample
from sessions_app.chat.session_form import SessionForm
from sessions_app.chat.session_list import SessionList, preview_of
from sessions_app.chat.time_zone import zone_of
from sessions_app.chat.transcript import Transcript, view_run
from sessions_app.context.personal_limits import room_for_session
from sessions_app.models import Run, Session, Turn
from sessions_app.models.titles import TITLE_LENGTH
from sessions_app.prompt.chunks import Usage, is_standard_text
from sessions_app.prompt.provider_tools import ProviderTool
from sessions_app.search import find
from sessions_app.values import uuid_or_none

PALETTE_HITS = 8


class TitleForm(forms.Form):
    title = forms.CharField(max_length=TITLE_LENGTH)


@login_required
@never_cache
@require_safe
def home(request: AuthenticatedRequest) -> HttpResponse:
    """An empty composer; the first message makes the session, with `assistant` and in `folder` if named."""
    assistant = usable_assistant(request, request.GET.get("assistant", ""))
    model = assistant.model if assistant else ""
    level = assistant.thinking_level if assistant else ""
    context = {
        "starters": STARTERS,
        "samples": available_samples(),
        "assistant": assistant,
        "folder": named_folder(request),
        "chosen_model": ChosenModel(model or configured.PIPEWEB_MODEL, level),
    }
    return render(request, "chat/home.html", context)


@login_required
@never_cache
@require_safe
def sessions(request: AuthenticatedRequest) -> HttpResponse:
    """The list; with `q` search results, with `archive` archived sessions, with `folder` those in it."""
    query = request.GET.get("q", "").strip()
    context: dict[str, Any] = {"query": query, **imports_context(request.user)}
    if query:
        context["found"] = find(request.user, query)
    elif "archive" in request.GET:
        context["page"] = SessionList.archive_of(request.user)
    elif "folder" in request.GET:
        context["page"] = SessionList.of(request.user, folder=own_folder(request, request.GET["folder"]))
    else:
        context["page"] = SessionList.of(request.user)
    return render(request, "chat/session_list.html" if request.htmx else "chat/sessions.html", context)


@login_required
@require_safe
def palette(request: AuthenticatedRequest) -> HttpResponse:
    """Options of the palette: search results, or the newest sessions without a query."""
    query = request.GET.get("q", "").strip()
    context: dict[str, Any] = {"found": find(request.user, query, hits=PALETTE_HITS)} if query else {}
    if not query:
        context["recent"] = SessionList.of(request.user, limit=PALETTE_HITS).sessions
    return render(request, "chat/palette_found.html", context)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def new_session(request: AuthenticatedRequest) -> HttpResponse:
    """POST creates a session from the form or, with `quick`, from a sample or defaults."""
    session = Session(owner=request.user, model=configured.PIPEWEB_MODEL)
    session.settings = {"time_zone": zone_of(request)}
    session.temporary = "temporary" in request.POST
    session.folder = None if session.temporary else named_folder(request)
    if "quick" in request.POST:
        return _create_quickly(request, session)
    initial = _begin_with_assistant(request, session)
    form = SessionForm(request.POST or None, instance=session, initial=initial)
    if request.method == "POST" and form.is_valid():
        with room_for_session(request.user.pk):
            return redirect(form.save())
    return render(request, "chat/new.html", {"form": form})


def _begin_with_assistant(request: AuthenticatedRequest, session: Session) -> dict[str, Any]:
    """Where a GET names an assistant, the form shows what it brings; nothing is saved."""
    if request.method == "POST" or "assistant" not in request.GET:
        return {}
    session.assistant = assistant = usable_assistant(request, request.GET["assistant"])
    if assistant is None:
        return {}
    assistant.apply_to(session)
    return {"roles": list(assistant.roles.all())}


def _create_quickly(request: AuthenticatedRequest, session: Session) -> HttpResponse:
    typed = request.POST
    assistant = usable_assistant(request, typed.get("assistant", ""))
    if assistant is not None:
        assistant.apply_to(session)
    chosen = ChosenModel.typed(
        typed.get("model", ""), typed.get("thinking_level", ""), otherwise=session.model
    )
    session.model = chosen.name
    session.settings = {
        **session.settings,
        "thinking_level": chosen.level,
        "provider_tools": _typed_own_tools(request, session),
    }
    sample = find_sample(typed.get("sample", ""))
    if sample is not None:
        session.purpose, session.background = sample.purpose, sample.background
    with room_for_session(session.owner_id):
        session.save()
        if assistant is not None:
            assistant.copy_roles(session)
    return redirect(session)


def _typed_own_tools(request: AuthenticatedRequest, session: Session) -> list[str]:
    """Those that were switched on, and those of an assistant that was chosen after the page was shown."""
    typed = request.POST
    is_shown = typed.get("assistant", "") == typed.get("tools_of", "")
    brought = [] if is_shown else session.options.provider_tools
    chosen = {*typed.getlist("provider_tools"), *brought}
    return [tool.value for tool in ProviderTool if tool.value in chosen]


@login_required
@never_cache  # “Back” would show an outdated conversation.
@require_safe
def session(request: AuthenticatedRequest, public: UUID) -> HttpResponse:
    """The chat; with `leaf=<turn>` the branch of that turn, with `before=<turn>` a fragment of older runs."""
    found = readable_session(request, public, "head")
    if "before" in request.GET:
        return _earlier(request, found)
    at = _turn(found, request.GET["leaf"]) if "leaf" in request.GET else None
    if found.is_read_only:
        template = "captured" if found.grant is None else "foreign"
        context = {"page": CapturedPage.of(found, at), "session": found}
        return render(request, f"chat/{template}.html", context)
    return render(request, "chat/session.html", {"page": ChatPage.of(found, at), "session": found})


def _earlier(request: AuthenticatedRequest, found: Session) -> HttpResponse:
    turn = _turn(found, request.GET["before"])
    context = {"session": found, "transcript": Transcript.ending_at(turn.parent)}
    return render(request, "chat/transcript.html", context)


def _turn(found: Session, value: str) -> Turn:
    turns = Turn.objects.select_related("parent")
    return get_object_or_404(turns, session=found, public=uuid_or_none(value))


@login_required
@require_safe
def run(request: AuthenticatedRequest, public: UUID, run: UUID) -> HttpResponse:
    """One run as a fragment, which replaces the live article when the run ends."""
    found = own_session(request, public)
    runs = Run.objects.select_related("trigger__content", "trigger__run")
    row = get_object_or_404(runs, session=found, public=run)
    return render(request, "chat/run.html", {"session": found, "view": view_run(found, row)})


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def settings(request: AuthenticatedRequest, public: UUID) -> HttpResponse:
    found = own_chat(request, public, "assistant")
    initial = _begin_with_assistant(request, found)
    form = SessionForm(request.POST or None, instance=found, initial=initial)
    if request.method == "POST" and form.is_valid():
        form.save()
        # Title, model and empty state may have changed; drafts and live answers survive a reload.
        return HttpResponseClientRefresh()
    if "assistant" not in request.GET:  # Where one was chosen, its field keeps the focus.
        form.focus(request.GET.get("field", ""))
    return render(request, "chat/settings.html", {"session": found, "form": form})


RENAMING = {
    "side": ("chat/side_rename.html", "chat/side_rows.html"),
    "bar": ("chat/bar_rename.html", "chat/bar_title.html"),
}
"""Where else than in the list a chat is renamed: the form, and what stands there before and after."""


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def rename(request: AuthenticatedRequest, public: UUID) -> HttpResponse:
    """GET returns the form (with `cancel` the title as it was), POST the new title.

    With `side` or `bar` they are those of the sidebar or of the bar, else those of the list.
    """
    found = own_session(request, public)
    form = TitleForm(request.POST or None, initial={"title": found.title})
    places = (RENAMING[place] for place in RENAMING if place in request.GET)
    template, row = next(places, ("chat/rename.html", ""))
    if request.method == "POST" and form.is_valid():
        found.rename(form.cleaned_data["title"])
        response = _render_row(request, found, row)
        renamed = {"session": str(found.public), "title": found.shown_title}
        return trigger_client_event(response, "chat-renamed", renamed)
    if "cancel" in request.GET:
        return _render_row(request, found, row)
    return render(request, template, {"session": found, "item": found, "form": form})


def _render_row(request: AuthenticatedRequest, found: Session, template: str) -> HttpResponse:
    if template:
        is_shown = (request.htmx.current_url_abs_path or "").startswith(found.get_absolute_url())
        context = {"item": found, "rows": [found], "at": found.public if is_shown else None}
        return render(request, template, context)
    found.preview = preview_of(found.head.text) if found.head else ""
    return render(request, "chat/session_rows.html", {"rows": [found]})


@login_required
@require_safe
def answer_cost(request: AuthenticatedRequest, public: UUID, run: UUID) -> HttpResponse:
    """The cost of an answer in plain words, and of each of its requests, as a fragment."""
    found = readable_session(request, public)
    row = get_object_or_404(Run.objects.select_related("trigger"), session=found, public=run)
    requests = requests_of([one.pk for one in view_run(found, row).exchanges] if row.is_resumed else row)
    usage = AnswerUsage.of(
        [one.exchange for one in requests],
        is_standard_text=all(is_standard_text(one.exchange.usage) for one in requests),
        tool_use=sum(Usage.of(one.exchange.usage).tool_use for one in requests),
    )
    context = {"session": found, "usage": usage, "requests": requests}
    return render(request, "chat/account_card.html", context)


@login_required
@require_safe
def cost_forecast(request: AuthenticatedRequest, public: UUID) -> HttpResponse:
    """The forecast below the composer and the sum in the header."""
    found = own_chat(request, public, "head")
    return render(request, "chat/outlook_news.html", {"session": found, "outlook": CostForecast.of(found)})


@login_required
@require_safe
def context_usage(request: AuthenticatedRequest, public: UUID) -> HttpResponse:
    """The gauge below the composer, the open files in it, the chosen model and the tools of the provider."""
    session = own_chat(request, public)
    context = {
        "session": session,
        "gauge": ContextUsage.of(session),
        "files": open_files(session),
        "chosen": ChosenModel.of(session),
        "notices": shown_notices(session.model),
    }
    return render(request, "chat/gauge_news.html", context)
