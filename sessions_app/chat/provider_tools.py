"""The provider's own tools of a chat: which are on, and what the model makes of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.conf import settings as configured
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_POST

from sessions_app.accounts.requests import AuthenticatedRequest, own_chat
from sessions_app.context.model_lookup import facts_of, title_of
from sessions_app.models import Session
from sessions_app.prompt.answer_schema import parsed
from sessions_app.prompt.provider_tools import ProviderTool, Support, offer
from sessions_app.wording import provider_tools as wording

ICONS = {ProviderTool.SEARCH: "search", ProviderTool.LINKS: "link", ProviderTool.CODE: "braces"}


@dataclass(frozen=True, slots=True)
class ToolSwitch:
    """`is_known` is false where the model, or the form of its requests, does not have the tool."""

    name: str
    title: str
    icon: str
    is_on: bool
    is_known: bool = True


@dataclass(frozen=True, slots=True)
class ProviderToolSwitches:
    """`notes` say what a request of this chat leaves out, and why."""

    switches: tuple[ToolSwitch, ...]
    notes: tuple[str, ...] = ()

    @property
    def on(self) -> tuple[ToolSwitch, ...]:
        return tuple(one for one in self.switches if one.is_on)

    @classmethod
    def of(cls, session: Session) -> "ProviderToolSwitches":
        options = session.options
        notes = left_out_notes(session.model, options.provider_tools, options.answer_schema)
        support = support_of(session.model)
        return cls(
            tuple(
                ToolSwitch(
                    tool.value,
                    wording.title(tool),
                    ICONS[tool],
                    tool.value in options.provider_tools,
                    is_known=support.is_gemini and tool.value in support.own_tools,
                )
                for tool in ProviderTool
            ),
            notes,
        )

    @classmethod
    def new(cls, chosen: Sequence[str] = ()) -> "ProviderToolSwitches":
        """The switches of a chat that is not made yet, with what its assistant brings."""
        return cls(
            tuple(
                ToolSwitch(tool.value, wording.title(tool), ICONS[tool], tool.value in chosen)
                for tool in ProviderTool
            )
        )


def support_of(model: str) -> Support:
    facts = facts_of(model)
    return Support(facts.own_tools, facts.mixes_tools, is_gemini=configured.PIPEWEB_DIALECT == "gemini")


def left_out_notes(model: str, tools: Sequence[str], schema: str) -> tuple[str, ...]:
    """What requests to the model will leave out of these wishes."""
    found = offer(
        tools, support_of(model), has_schema=parsed(schema) is not None, has_functions=True
    ).left_out
    return tuple(wording.left_out(one.what, one.why.value, title_of(model)) for one in found)


@login_required
@require_POST
def provider_tools(request: AuthenticatedRequest, public: UUID) -> HttpResponse:
    """Switches the tool `name` from the next request on: on where `on` has it, else off.

    `on` are all boxes that are checked, since they stand in one form.
    """
    session = own_chat(request, public)
    name = request.POST.get("name", "")
    if name not in set(ProviderTool):
        raise Http404
    session.switch("provider_tools", name, name in request.POST.getlist("on"))
    return render(request, "chat/provider_tools_answer.html", {"session": session})
