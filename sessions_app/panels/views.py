"""Views of the panels of a session. An action responds with its panel as it is afterwards."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_POST, require_safe
from django_htmx.http import reswap
from pydantic import ValidationError

from sessions_app.accounts.requests import AuthenticatedRequest, own_chat
from sessions_app.errors import NotKept, PipewebError, RowGone
from sessions_app.models import Session, ToolGrant
from sessions_app.panels import available_tools, kind_named
from sessions_app.panels.base import Action, PanelKind, sent_text
from sessions_app.panels.kinds.files import NextPage
from sessions_app.panels.panel_list import PanelList, allowed_tools
from sessions_app.wording.refusals import error_texts
from sessions_app.wording.values import SENTENCES, sentence

OFFERS = "offers"
"""The key of the tools, which are listed like a panel."""


@login_required
@require_safe
def list_panels(request: AuthenticatedRequest, public: UUID) -> HttpResponse:
    """The heads of all panels."""
    session = own_chat(request, public, "assistant")
    return _render(request, session, {"list": PanelList.of(session)})


@login_required
@require_safe
def panel(request: AuthenticatedRequest, public: UUID, key: str) -> HttpResponse:
    session = own_chat(request, public, "assistant")
    return panel_response(request, session, key if key == OFFERS else _kind(key).key)


@login_required
@require_safe
def raw_panel(request: AuthenticatedRequest, public: UUID, key: str) -> HttpResponse:
    """The characters of a panel in the dynamic layer."""
    session = own_chat(request, public, "assistant")
    read = PanelList.of(session, _kind(key).key).named(key)
    text = ",\n".join(map(sent_text, read.panels))
    return render(request, "panels/raw.html", {"text": text})


@login_required
@require_POST
def switch_panel(request: AuthenticatedRequest, public: UUID, key: str) -> HttpResponse:
    """Switches a kind of panel on or off, from the next request on."""
    session = own_chat(request, public, "assistant")
    kind, on = _kind(key), "on" in request.POST
    session.switch_panel(kind.key, on)
    message = f"{kind.title} is {'on' if on else 'off'}."
    return _render(request, session, {"list": PanelList.of(session), "message": message})


@login_required
@require_POST
def switch_tool(request: AuthenticatedRequest, public: UUID, name: str) -> HttpResponse:
    """Switches a tool on or off, from the next request on."""
    session = own_chat(request, public, "assistant")
    tools = available_tools(session.owner_id)
    tool = next((tool for tool in tools if tool.name == name), None)
    if tool is None:
        raise Http404
    on = "on" in request.POST
    session.switch("tools", name, on, tools.enabled(allowed_tools(session)))
    if not on:
        ToolGrant.objects.take_back(session.pk, {name})
    return panel_response(request, session, OFFERS, message=f"{tool.title} is {'on' if on else 'off'}.")


@login_required
@require_POST
def turn_page(request: AuthenticatedRequest, public: UUID, key: str) -> HttpResponse:
    """Sends another page of a long panel."""
    session = own_chat(request, public, "assistant")
    return _carry_out(request, session, _kind(key), NextPage, panel=key)


@login_required
@require_POST
def run_action(request: AuthenticatedRequest, public: UUID, key: str, name: str) -> HttpResponse:
    """Carries out an action. A failure changes only the line with the reason."""
    session, kind = own_chat(request, public, "assistant"), _kind(key)
    action = kind.action(name)
    if action is None:
        raise Http404
    return _carry_out(request, session, kind, action)


def _carry_out(
    request: AuthenticatedRequest, session: Session, kind: PanelKind[Any], action: type[Action], **known: str
) -> HttpResponse:
    try:
        message = parse_action(action, request.POST.dict() | known).carry_out(session)
    except RowGone as error:
        raise Http404(error.message) from error
    except PipewebError as error:
        return error_response(request, kind.key, error)
    return panel_response(request, session, kind.key, message=message)


def error_response(request: AuthenticatedRequest, key: str, error: PipewebError) -> HttpResponse:
    """The reason of a failure; the form stays as it is."""
    problem = " ".join(error_texts(error)).strip()
    return reswap(render(request, "panels/refusal.html", {"key": key, "problem": problem}), "none")


def panel_response(
    request: AuthenticatedRequest, session: Session, key: str, *, message: str = ""
) -> HttpResponse:
    """The content of a panel and the heads of all. The session comes with its assistant."""
    found = PanelList.of(session) if key == OFFERS else PanelList.of(session, key)
    context: dict[str, Any] = {"list": found, "message": message, "key": key, "offers": found.offers}
    if key != OFFERS:
        read = found.named(key)
        context |= {
            "read": read,
            "template": read.kind.template_path,
            **read.kind.template_context(session, read),
        }
    return _render(request, session, context)


def _render(request: AuthenticatedRequest, session: Session, context: dict[str, Any]) -> HttpResponse:
    return render(request, "panels/answer.html", {"session": session, **context})


def _kind(key: str) -> PanelKind[Any]:
    kind = kind_named(key)
    if kind is None:
        raise Http404
    return kind


def parse_action(action: type[Action], data: Mapping[str, str]) -> Action:
    """The action with the fields of a form, where empty ones count as missing. Raises NotKept."""
    fields = {name: value for name in action.model_fields if (value := data.get(name, ""))}
    try:
        return action.model_validate(fields)
    except ValidationError as error:
        raise NotKept(_error_text(error)) from error


def _error_text(error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    match first["type"], first.get("ctx", {}):
        case "missing" | "string_too_short", _:
            return "Write something first."
        case "string_too_long", {"max_length": most}:
            return f"At most {most:,} characters; this has {len(first['input']):,}."
        case code, figures if code in SENTENCES:
            return sentence(code, figures)
    return f"{first['loc'][0]}: {first['msg']}."
