"""Forms that rewrite the conversation: delete, shorten, compress, repair. Each makes a branch."""

import uuid
from typing import Any
from uuid import UUID

from asgiref.sync import sync_to_async
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import prefetch_related_objects
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils.html import format_html
from django.views.decorators.http import require_GET, require_http_methods, require_POST
from django_htmx.http import HttpResponseClientRefresh

from sessions_app.chat.branches import refuse
from sessions_app.chat.steps import steps_of
from sessions_app.chat.views import Request, own_session
from sessions_app.errors import PipewebError, RunError
from sessions_app.models import Session, Turn
from sessions_app.prompt.detach import tokens_of
from sessions_app.prompt.turns import Turn as TurnValue
from sessions_app.runs import rewrite
from sessions_app.runs.compose import COMPRESS, SHORTEN, compose
from sessions_app.runs.showing import files_in

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
@require_http_methods(["GET", "POST"])
def delete(request: Request, public: UUID, turn: UUID) -> HttpResponse:
    """GET asks what goes; POST takes the message with its answer, or the answer alone, out of the branch."""
    found = own_session(request, public)
    branch = rewrite.branch_of(found)
    task = _on_branch(branch, turn)
    answer = rewrite.answer_to(branch, turn)
    later = len(branch) - branch.index(task) - 1 - len(answer)
    context: Context = {"session": found, "task": task, "answer": answer, "later": later}
    if request.method == "POST":
        doomed = answer if request.POST.get("what") == "answer" else [task, *answer]
        try:
            rewrite.delete_turns(found.pk, [one.public for one in doomed])
            return _done(request, found, "Deleted from this branch.")
        except RunError as error:
            context["refusal"] = error
    return render(request, "chat/rewrite_delete.html", context)


@login_required
@require_http_methods(["GET", "POST"])
def shorten(request: Request, public: UUID, turn: UUID) -> HttpResponse:
    """GET asks for a short form of an answer; POST puts the approved one in its place."""
    found = own_session(request, public)
    context = _summary_context(found, turn, "shorten")
    if request.method == "POST":
        text = request.POST.get("text", "")
        try:
            rewrite.shorten(found.pk, turn, text)
            return _done(request, found, context["done"])
        except RunError as error:
            context |= {"refusal": error, "text": text}
    return render(request, "chat/rewrite_summary.html", context)


@login_required
@require_http_methods(["GET", "POST"])
def compress(request: Request, public: UUID, turn: UUID) -> HttpResponse:
    """GET asks for a summary of all before a message; POST puts the approved one in its place."""
    found = own_session(request, public)
    context = _summary_context(found, turn, "compress")
    if request.method == "POST":
        text, earlier = request.POST.get("text", ""), context["material"]
        try:
            if not earlier:
                raise rewrite.PARTED
            rewrite.compress(found.pk, earlier[0].public, earlier[-1].public, text)
            return _done(request, found, context["done"])
        except RunError as error:
            context |= {"refusal": error, "text": text}
    return render(request, "chat/rewrite_summary.html", context)


@login_required
@require_POST
async def draft(request: Request, public: UUID, turn: UUID, what: str) -> HttpResponse:
    """The model's draft of a summary, for the person to change and approve."""
    if what not in SUMMARIES:
        raise Http404
    context = await sync_to_async(_draft_context)(request, public, turn, what)
    try:
        composed = await compose(
            _runner(request).gateway, context["session"], context["values"], context["wish"]
        )
        context |= {"composed": composed, "text": composed.text}
    except PipewebError as error:
        context |= {"refused": error, "text": request.POST.get("text", "")}
    return await sync_to_async(render)(request, "chat/rewrite_draft.html", context)


@login_required
@require_GET
def original(request: Request, public: UUID, turn: UUID) -> HttpResponse:
    """What a short form stands for."""
    rows = own_session(request, public).turns.filter(summary=True).exclude(origin=None)
    short = get_object_or_404(rows.select_related("origin__content"), public=turn)
    steps = steps_of([short.origin], {}, files_in([short.origin]), {}) if short.origin else ()
    return render(request, "chat/rewrite_original.html", {"steps": steps})


@login_required
@require_POST
async def repair(request: Request, public: UUID, run: UUID) -> HttpResponse:
    """Writes the repaired history as a branch and asks again."""
    try:
        found = await sync_to_async(_mended)(request, public)
        assert found.head is not None
        await _runner(request).retry(found.pk, uuid.uuid4(), run, found.head.public)
    except RunError as error:
        return refuse(error)
    return HttpResponseClientRefresh()


def _mended(request: Request, public: UUID) -> Session:
    return rewrite.mend(own_session(request, public).pk)


def _runner(request: Request) -> Any:
    """The process's runner, which the composition root puts into the scope."""
    scope: dict[str, Any] = getattr(request, "scope", {})
    return scope["runner"]


def _draft_context(request: Request, public: UUID, turn: UUID, what: str) -> Context:
    return _summary_context(own_session(request, public), turn, what)


def _summary_context(session: Session, turn: UUID, what: str) -> Context:
    branch = rewrite.branch_of(session)
    task = _on_branch(branch, turn)
    material = rewrite.answer_to(branch, turn) if what == "shorten" else rewrite.before(branch, turn)
    prefetch_related_objects([task, *material], "content")
    return {
        **SUMMARIES[what],
        "what": what,
        "session": session,
        "task": task,
        "material": material,
        "values": _values([task, *material] if what == "shorten" else material),
        "count": len(material),
        "tokens": sum(tokens_of(one.value) for one in material),
        "longest": rewrite.LONGEST,
    }


def _values(turns: list[Turn]) -> list[TurnValue]:
    return [turn.value for turn in turns]


def _on_branch(branch: list[Turn], public: UUID) -> Turn:
    found = next((turn for turn in branch if turn.public == public), None)
    if found is None:
        raise Http404
    return found


def _done(request: Request, before: Session, words: str) -> HttpResponse:
    """Loads the page anew, with a way back: the branch as it was ends where the session's head stood."""
    back = f"{before.get_absolute_url()}?leaf={before.head.public}" if before.head else ""
    link = format_html(' <a href="{}">See the branch as it was</a>', back) if back else ""
    messages.success(request, format_html("{}{}", words, link))
    return HttpResponseClientRefresh()
