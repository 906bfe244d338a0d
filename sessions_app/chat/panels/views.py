"""The drawer beside a chat and each panel in it. An act answers with the panel as it is then."""

from typing import Any
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET, require_POST
from django_htmx.http import reswap

from sessions_app.chat.forms import first_error
from sessions_app.chat.panels.acts import ACTS
from sessions_app.chat.panels.bodies import body_of
from sessions_app.chat.panels.forms import PageForm, SwitchForm
from sessions_app.chat.panels.listing import Drawer, PanelList
from sessions_app.chat.panels.values import as_sent
from sessions_app.chat.views import Request, own_session
from sessions_app.context.kinds import KEYS
from sessions_app.errors import PipewebError
from sessions_app.models import PanelState, Session

OFFERS = "offers"
"""Stands for the tools among the panels: they are no panel, and open like one."""


@login_required
@require_GET
def details(request: Request, public: UUID) -> HttpResponse:
    session = own_session(request, public, "assistant")
    return render(request, "chat/panels/drawer.html", {"session": session, "drawer": Drawer.of(session)})


@login_required
@require_GET
def heads(request: Request, public: UUID) -> HttpResponse:
    """The lines of all panels, to take the place of those on the page."""
    session = own_session(request, public, "assistant")
    return _answer(request, session, {"list": PanelList.of(session)})


@login_required
@require_GET
def panel(request: Request, public: UUID, key: str) -> HttpResponse:
    return show(request, own_session(request, public, "assistant"), _known(key))


@login_required
@require_GET
def raw(request: Request, public: UUID, key: str) -> HttpResponse:
    """The characters of the dynamic layer."""
    session = own_session(request, public, "assistant")
    read = PanelList.of(session, _panel(key)).named(key)
    text = as_sent(read.panel) if read.panel else ""
    return render(request, "chat/panels/raw.html", {"text": text})


@login_required
@require_POST
def switch(request: Request, public: UUID, key: str) -> HttpResponse:
    """Shows a kind of panel to the model or hides it, from the next request on."""
    session = own_session(request, public, "assistant")
    form = SwitchForm(request.POST)
    on = form.is_valid() and form.cleaned_data["on"]
    session.switch_panel(_panel(key), on)
    found = PanelList.of(session)
    words = f"{found.named(key).kind.title} is {'on' if on else 'off'}."
    return _answer(request, session, {"list": found, "said": words})


@login_required
@require_POST
def turn(request: Request, public: UUID, key: str) -> HttpResponse:
    """Shows the model another page of a long panel."""
    session = own_session(request, public, "assistant")
    form = PageForm(request.POST)
    if not form.is_valid():
        return refuse(request, _panel(key), first_error(form))
    PanelState.objects.turn_to(session, _panel(key), form.cleaned_data["page"])
    return show(request, session, key, said="The model reads this page now.")


@login_required
@require_POST
def act(request: Request, public: UUID, name: str, target: str = "") -> HttpResponse:
    """One of ACTS. What cannot be done changes nothing on the page but a line that says why."""
    session = own_session(request, public, "assistant")
    if name not in ACTS:
        raise Http404
    found = ACTS[name]
    form = found.form(request.POST)
    if not form.is_valid():
        return refuse(request, found.panel, first_error(form))
    try:
        said = found.carry_out(session, target, form.cleaned_data)
    except PipewebError as error:
        return refuse(request, found.panel, f"{error.message} {error.hint}".strip())
    return show(request, session, found.panel, said=said)


def refuse(request: Request, key: str, problem: str) -> HttpResponse:
    """Says why; what was typed stays where it is."""
    return reswap(render(request, "chat/panels/refusal.html", {"key": key, "problem": problem}), "none")


def show(request: Request, session: Session, key: str, *, said: str = "") -> HttpResponse:
    """The inside of a panel, with the lines of all; the session has its assistant."""
    found = PanelList.of(session) if key == OFFERS else PanelList.of(session, key)
    context: dict[str, Any] = {"list": found, "said": said, "key": key, "offers": found.offers}
    if key != OFFERS:
        read = found.named(key)
        context |= {"read": read, **body_of(session, read)}
    return _answer(request, session, context)


def _answer(request: Request, session: Session, context: dict[str, Any]) -> HttpResponse:
    return render(request, "chat/panels/answer.html", {"session": session, **context})


def _known(key: str) -> str:
    return key if key == OFFERS else _panel(key)


def _panel(key: str) -> str:
    if key not in KEYS:
        raise Http404
    return key
