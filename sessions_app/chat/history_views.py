"""Change the history of a session: switch, correct, fork, delete, shorten, compress, repair."""

import uuid
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.html import format_html
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django_htmx.http import HttpResponseClientRefresh

from sessions_app.accounts.requests import AuthenticatedRequest, own_chat
from sessions_app.chat.session_form import TEXT_LIMIT
from sessions_app.chat.steps import steps_of
from sessions_app.chat.transcript import Transcript
from sessions_app.chat.turn_files import files_in
from sessions_app.database import database_sync_to_async
from sessions_app.errors import OverLimit, PipewebError, RunError
from sessions_app.fields import VerbatimTextField
from sessions_app.models import Session, Turn
from sessions_app.models.related import attach
from sessions_app.prompt.detach import turn_tokens
from sessions_app.runs import history_edits
from sessions_app.runs.side_requests import COMPRESS, SHORTEN, draft_summary
from sessions_app.wording.refusals import error_texts


class CorrectionForm(forms.Form):
    """The corrected text of an answer, as Markdown."""

    text = VerbatimTextField(max_length=TEXT_LIMIT, error_messages={"required": "An answer cannot be empty."})


@login_required
@require_POST
def switch(request: AuthenticatedRequest, public: UUID, turn: UUID) -> HttpResponse:
    """Bring the branch of this turn into view; return the transcript, with `page` a redirect."""
    found = own_chat(request, public)
    try:
        session = history_edits.switch_branch(found.pk, turn)
    except RunError as error:
        return conflict_response(error)
    return redirect(session) if "page" in request.POST else conversation_response(request, session)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def turn_text(request: AuthenticatedRequest, public: UUID, turn: UUID) -> HttpResponse:
    """GET returns the Markdown of a turn; POST stores a corrected answer on a new branch."""
    found = own_chat(request, public)
    row = get_object_or_404(found.turns, public=turn)
    if request.method != "POST":
        return HttpResponse(row.whole_text, content_type="text/plain; charset=utf-8")
    form = CorrectionForm(request.POST)
    if not form.is_valid():
        return conflict_response(RunError(str(form.errors["text"][0]), hint="Change it, or cancel."))
    try:
        return conversation_response(
            request, history_edits.correct_answer(found.pk, turn, form.cleaned_data["text"])
        )
    except RunError as error:
        return conflict_response(error)


@login_required
@require_POST
def fork(request: AuthenticatedRequest, public: UUID, turn: UUID) -> HttpResponse:
    """Creates a session that begins with the branch up to this turn."""
    found = own_chat(request, public)
    try:
        return redirect(history_edits.fork_session(found.pk, turn))
    except RunError as error:
        return conflict_response(error)


def conversation_response(request: AuthenticatedRequest, session: Session) -> HttpResponse:
    context = {"session": session, "transcript": Transcript.ending_at(session.head)}
    return render(request, "chat/conversation.html", context)


def conflict_response(error: RunError) -> HttpResponse:
    """409: the session is not in the state that the page shows. Raises OverLimit, whose answer is 429."""
    if isinstance(error, OverLimit):
        raise error
    return JsonResponse({"message": error.message, "hint": error.hint}, status=409)


Context = dict[str, Any]

SUMMARIES: dict[str, dict[str, str]] = {
    "shorten": {
        "action": "shorten-turn",
        "title": "Shorten this answer",
        "lead": "The short form stands in the place of the answer and all it called, in every later request.",
        "nothing": "This message has no answer yet.",
        "wish": SHORTEN,
        "done": "The answer is shortened.",
    },
    "compress": {
        "action": "compress-history",
        "title": "Compress everything before",
        "lead": "One summary stands in the place of all that was said before this message.",
        "nothing": "Nothing was said before this message.",
        "wish": COMPRESS,
        "done": "What was said before is compressed.",
    },
}


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def delete(request: AuthenticatedRequest, public: UUID, turn: UUID) -> HttpResponse:
    """GET shows the form; POST deletes a message with its answer, or the answer alone, on a new branch."""
    found = own_chat(request, public)
    branch = history_edits.branch_of(found)
    task = _on_branch(branch, turn)
    answer = history_edits.turns_answering(branch, turn)
    later = len(branch) - branch.index(task) - 1 - len(answer)
    context: Context = {"session": found, "task": task, "answer": answer, "later": later}
    if request.method == "POST":
        deleted = answer if request.POST.get("what") == "answer" else [task, *answer]
        try:
            history_edits.delete_turns(found.pk, [one.public for one in deleted])
            return _reload_page(request, found, "Deleted from this branch.")
        except RunError as error:
            context["refusal"] = error
    return render(request, "chat/rewrite_delete.html", context)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def shorten(request: AuthenticatedRequest, public: UUID, turn: UUID) -> HttpResponse:
    """GET shows the form; POST replaces an answer by a summary."""
    context = _summary_context(request, public, turn, "shorten")
    found = context["session"]
    if request.method == "POST":
        text = request.POST.get("text", "")
        try:
            history_edits.shorten(found.pk, turn, text)
            return _reload_page(request, found, context["done"])
        except RunError as error:
            context |= {"refusal": error, "text": text}
    return render(request, "chat/rewrite_summary.html", context)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def compress(request: AuthenticatedRequest, public: UUID, turn: UUID) -> HttpResponse:
    """GET shows the form; POST replaces all turns before a message by a summary."""
    context = _summary_context(request, public, turn, "compress")
    found = context["session"]
    if request.method == "POST":
        text, earlier = request.POST.get("text", ""), context["material"]
        try:
            if not earlier:
                raise history_edits.SPLITS_EXCHANGE()
            history_edits.compress(found.pk, earlier[0].public, earlier[-1].public, text)
            return _reload_page(request, found, context["done"])
        except RunError as error:
            context |= {"refusal": error, "text": text}
    return render(request, "chat/rewrite_summary.html", context)


@login_required
@require_POST
async def draft(request: AuthenticatedRequest, public: UUID, turn: UUID, what: str) -> HttpResponse:
    """A summary drafted by the model, to be edited and approved."""
    if what not in SUMMARIES:
        raise Http404
    context = await database_sync_to_async(_summary_context)(request, public, turn, what)
    try:
        composed = await draft_summary(
            _runner(request).gateway, context["session"], context["values"], context["wish"]
        )
        context |= {"composed": composed, "text": composed.text}
    except PipewebError as error:
        context |= {
            "refused": " ".join(filter(None, error_texts(error))),
            "text": request.POST.get("text", ""),
        }
    return await database_sync_to_async(render)(request, "chat/rewrite_draft.html", context)


@login_required
@require_safe
def original(request: AuthenticatedRequest, public: UUID, turn: UUID) -> HttpResponse:
    """The answer that a summary replaces."""
    rows = own_chat(request, public).turns.filter(summary=True).exclude(origin=None)
    short = get_object_or_404(rows.select_related("origin__content"), public=turn)
    steps = steps_of([short.origin], {}, files_in([short.origin]), {}, {}) if short.origin else ()
    return render(request, "chat/rewrite_original.html", {"steps": steps})


@login_required
@require_POST
async def repair(request: AuthenticatedRequest, public: UUID, run: UUID) -> HttpResponse:
    """Stores the repaired history as a branch and retries the run."""
    try:
        found = await database_sync_to_async(_repair_history)(request, public)
        assert found.head is not None
        await _runner(request).retry(found.pk, uuid.uuid4(), run, found.head.public)
    except RunError as error:
        return conflict_response(error)
    return HttpResponseClientRefresh()


def _repair_history(request: AuthenticatedRequest, public: UUID) -> Session:
    return history_edits.repair_history(own_chat(request, public).pk)


def _runner(request: AuthenticatedRequest) -> Any:
    """The runner that `pipeweb.asgi` puts into the scope."""
    scope: dict[str, Any] = getattr(request, "scope", {})
    return scope["runner"]


def _summary_context(request: AuthenticatedRequest, public: UUID, turn: UUID, what: str) -> Context:
    session = own_chat(request, public)
    branch = history_edits.branch_of(session)
    task = _on_branch(branch, turn)
    material = (
        history_edits.turns_answering(branch, turn)
        if what == "shorten"
        else history_edits.turns_before(branch, turn)
    )
    attach([task, *material], "content")
    return {
        **SUMMARIES[what],
        "what": what,
        "session": session,
        "task": task,
        "material": material,
        "values": [one.value for one in ([task, *material] if what == "shorten" else material)],
        "count": len(material),
        "tokens": sum(turn_tokens(one.value) for one in material),
    }


def _on_branch(branch: list[Turn], public: UUID) -> Turn:
    found = next((turn for turn in branch if turn.public == public), None)
    if found is None:
        raise Http404
    return found


def _reload_page(request: AuthenticatedRequest, before: Session, text: str) -> HttpResponse:
    """Reload the page with a message that links to the branch as it was before."""
    back = f"{before.get_absolute_url()}?leaf={before.head.public}" if before.head else ""
    link = format_html(' <a href="{}">See the branch as it was</a>', back) if back else ""
    messages.success(request, format_html("{}{}", text, link))
    return HttpResponseClientRefresh()
