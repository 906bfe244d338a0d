"""The list of panels and tools beside a chat, with what each costs."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Self

from django.utils import timezone

from sessions_app.context.workspaces import workspace_of
from sessions_app.models import Session, ToolGrant
from sessions_app.panels import TOOLBOX, available_tools
from sessions_app.panels.base import ReadPanel
from sessions_app.panels.refresh import read_panels
from sessions_app.prompt import wire
from sessions_app.prompt.tokens import estimate
from sessions_app.tools import Tool, Toolbox
from sessions_app.wording.mcp import schema_loss

COSTS: Mapping[str, int] = {tool.name: estimate(wire.dumps(tool.declaration)) for tool in TOOLBOX}
"""Estimated tokens of each built-in tool's declaration: it is sent with every request."""


def cost_of(tool: Tool) -> int:
    """The same for any tool."""
    known = COSTS.get(tool.name) if tool.remote is None else None
    return estimate(wire.dumps(tool.declaration)) if known is None else known


@dataclass(frozen=True, slots=True)
class ToolOffer:
    """One tool; `is_allowed` is false where the assistant of the session excludes it. One that `is_granted`
    runs without an ask.
    """

    tool: Tool
    is_on: bool
    is_allowed: bool
    is_granted: bool

    @property
    def tokens(self) -> int:
        return cost_of(self.tool)

    @property
    def losses(self) -> list[str]:
        """What of a server's declaration the model does not get."""
        remote = self.tool.remote
        return [schema_loss(code, place) for code, place in remote.losses] if remote else []


@dataclass(frozen=True, slots=True)
class OfferGroup:
    name: str
    offers: tuple[ToolOffer, ...]

    @property
    def on(self) -> int:
        return sum(offer.is_on for offer in self.offers)


@dataclass(frozen=True, slots=True)
class ToolOffers:
    """Every tool of the installation. `assistant` is the name of one that restricts them."""

    offers: tuple[ToolOffer, ...]
    assistant: str = ""

    @classmethod
    def of(cls, session: Session) -> Self:
        tools = available_tools(session.owner_id)
        on = tools.enabled(session.chosen_tools)
        limit = allowed_tools(session)
        granted = granted_tools(session, tools)
        offers = (
            ToolOffer(tool, tool.name in on, limit is None or tool.name in limit, tool.name in granted)
            for tool in tools
        )
        assistant = session.installed_assistant
        return cls(tuple(offers), assistant.name if assistant and limit is not None else "")

    @property
    def states(self) -> dict[str, bool]:
        """Name → whether it is on, of every tool."""
        return {offer.tool.name: offer.is_on for offer in self.offers}

    @property
    def on(self) -> int:
        return sum(offer.is_on for offer in self.offers)

    @property
    def tokens(self) -> int:
        return sum(offer.tokens for offer in self.offers if offer.is_on)

    @property
    def groups(self) -> list[OfferGroup]:
        ordered = sorted(self.offers, key=lambda offer: offer.tool.group)
        return [
            OfferGroup(name, tuple(found)) for name, found in groupby(ordered, lambda offer: offer.tool.group)
        ]


def allowed_tools(session: Session) -> list[str] | None:
    """The tools that the session's assistant is limited to; None is no limit."""
    return session.installed_assistant.known_tools if session.installed_assistant else None


def granted_tools(session: Session, tools: Toolbox) -> set[str]:
    """Those that run in this session without an ask, by name: one query where there are tools of servers."""
    remotes = {tool.name: tool.remote for tool in tools if tool.remote}
    granted = ToolGrant.objects.keys(session.pk) if remotes else set()
    return {name for name, remote in remotes.items() if remote.grant in granted}


@dataclass(frozen=True, slots=True)
class PanelList:
    """Every kind of panel with its content now; `offers` are the tools."""

    session: Session
    panels: tuple[ReadPanel, ...]
    offers: ToolOffers

    @classmethod
    def of(cls, session: Session, *asked: str) -> Self:
        """`asked` are kinds to read although they are off. Two statements, and one more each for history
        and statistics where they are read, and for tools of servers; the session has its assistant."""
        offers = ToolOffers.of(session)
        workspace = workspace_of(session.owner_id)
        panels = read_panels(session, workspace, timezone.now(), tools=offers.states, asked=asked)
        return cls(session, tuple(panels), offers)

    @property
    def on(self) -> list[ReadPanel]:
        return [one for one in self.panels if one.is_on]

    @property
    def off(self) -> list[ReadPanel]:
        return [one for one in self.panels if not one.is_on]

    @property
    def sent(self) -> list[ReadPanel]:
        """The panels that are on and not empty."""
        return [one for one in self.on if one.sent]

    @property
    def tokens(self) -> int:
        """Estimated, of all panels that are sent."""
        return sum(one.tokens for one in self.sent)

    def named(self, key: str) -> ReadPanel:
        return next(one for one in self.panels if one.kind.key == key)
