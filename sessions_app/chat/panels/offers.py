"""The tools on offer: which the model may call, and what declaring them costs."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Self

from sessions_app.models import Session
from sessions_app.prompt import wire
from sessions_app.prompt.tokens import estimate
from sessions_app.tools import TOOLBOX, Tool

COSTS: Mapping[str, int] = {tool.name: estimate(wire.dumps(tool.declaration)) for tool in TOOLBOX}
"""Estimated tokens of each tool's declaration: it is sent with every request."""


@dataclass(frozen=True, slots=True)
class Offer:
    """One tool; `is_allowed` is false where the session's assistant does without it."""

    tool: Tool
    is_on: bool
    is_allowed: bool

    @property
    def tokens(self) -> int:
        return COSTS[self.tool.name]


@dataclass(frozen=True, slots=True)
class Group:
    name: str
    offers: tuple[Offer, ...]

    @property
    def on(self) -> int:
        return sum(offer.is_on for offer in self.offers)


@dataclass(frozen=True, slots=True)
class Offers:
    """Every tool of the product. `assistant` is named where it restricts them."""

    offers: tuple[Offer, ...]
    assistant: str = ""

    @classmethod
    def of(cls, session: Session) -> Self:
        on = TOOLBOX.enabled(session.chosen_tools)
        limit = limit_of(session)
        offers = (Offer(tool, tool.name in on, limit is None or tool.name in limit) for tool in TOOLBOX)
        return cls(tuple(offers), session.assistant.name if session.assistant and limit is not None else "")

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
    def groups(self) -> list[Group]:
        ordered = sorted(self.offers, key=lambda offer: offer.tool.group)
        return [Group(name, tuple(found)) for name, found in groupby(ordered, lambda offer: offer.tool.group)]


def limit_of(session: Session) -> list[str] | None:
    """The tools that the session's assistant is limited to; None is no limit."""
    return session.assistant.tools if session.assistant else None


def switch(session: Session, name: str, *, on: bool) -> None:
    """Puts a tool on offer from the next request on, or takes it away."""
    session.switch_tool(name, on, TOOLBOX.enabled(limit_of(session)))
