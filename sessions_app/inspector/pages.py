"""What stands above the tabs of an exchange, read with a fixed number of queries."""

from dataclasses import dataclass

from sessions_app.inspector.figures import thousands
from sessions_app.inspector.findings import Finding, end_of, verdict_of
from sessions_app.inspector.notes import StoredNote, notes_of
from sessions_app.models import Exchange
from sessions_app.ribbon import Ribbon, ribbon_of


def equation_of(exchange: Exchange) -> str:
    """What it used, as one sentence: "1,204 prompt = 180 new + 1,024 cached; 96 output + 40 thoughts"."""
    if exchange.prompt_tokens is None:
        return "The provider reported no usage."
    cached = exchange.cached_tokens or 0
    prompt = f"{thousands(exchange.prompt_tokens)} prompt = {thousands(exchange.prompt_tokens - cached)} new"
    tools = exchange.usage.get("toolUsePromptTokenCount")
    output, thoughts = exchange.output_tokens or 0, exchange.thought_tokens or 0
    answer = f"{thousands(output)} output + {thousands(thoughts)} thoughts"
    tool_use = f" + {thousands(tools)} tool use" if isinstance(tools, int) and tools else ""
    return f"{prompt} + {thousands(cached)} cached; {answer}{tool_use}"


@dataclass(frozen=True, slots=True)
class Neighbours:
    """The exchange numbers before and after; None at the ends."""

    previous: int | None
    following: int | None


def neighbours_of(exchange: Exchange) -> Neighbours:
    number = exchange.number
    beside = Exchange.objects.filter(session=exchange.session_id, number__in=(number - 1, number + 1))
    found = set(beside.values_list("number", flat=True))
    return Neighbours(
        number - 1 if number - 1 in found else None,
        number + 1 if number + 1 in found else None,
    )


@dataclass(frozen=True, slots=True)
class Header:
    """What stands above the tabs."""

    ribbon: Ribbon
    verdict: Finding | None
    end: Finding
    equation: str
    beside: Neighbours
    notes: tuple[StoredNote, ...]
    is_live: bool
    """Its run goes on, so that the page will change."""


def header_of(exchange: Exchange) -> Header:
    return Header(
        ribbon_of(exchange),
        verdict_of(exchange),
        end_of(exchange),
        equation_of(exchange),
        neighbours_of(exchange),
        notes_of(exchange),
        exchange.is_open or exchange.run.is_active,
    )
