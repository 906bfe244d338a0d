"""What the inspector's pages show around their tabs, read with a fixed number of queries."""

from dataclasses import dataclass
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import Count, F, QuerySet, Sum
from django.db.models.functions import Left

from sessions_app.inspector import texts
from sessions_app.inspector.figures import thousands
from sessions_app.inspector.notes import StoredNote, notes_of
from sessions_app.inspector.ribbon import Ribbon, draw
from sessions_app.models import Exchange, Session
from sessions_app.prompt.reply import Outcome

PAGE = 50

QUOTED = 90
"""Characters of the message beside each exchange."""

BODIES = ("manifest", "notes", "usage")
"""Columns that can be large and that a list does not need."""

GOOD = ("HIT", "PARTIAL")
BAD = ("PROVIDER_MISS", "CACHE_EXPIRED", "LAYER_CHANGED", "MODEL_CHANGED", "CONFIG_CHANGED", "SHORTENED")


@dataclass(frozen=True, slots=True)
class Finding:
    """A verdict or an end as a badge: the word, the tone of its colour, and what it means."""

    word: str
    tone: str
    meaning: str


@dataclass(frozen=True, slots=True)
class Row:
    exchange: Exchange
    asked: str
    ribbon: Ribbon
    verdict: Finding | None
    end: Finding


def list_exchanges(session: Session, number: str) -> tuple[Page[Exchange], dict[str, Any]]:
    """A page of a session's exchanges, newest first, without bodies, and the sums of all of them."""
    exchanges = Exchange.objects.filter(session=session)
    listed = exchanges.order_by("-number").defer(*BODIES).select_related("run")
    asked = listed.annotate(asked=Left(F("run__trigger__text"), QUOTED))
    return Paginator(asked, PAGE).get_page(number), totals_of(exchanges)


def totals_of(exchanges: QuerySet[Exchange]) -> dict[str, Any]:
    return exchanges.aggregate(
        count=Count("pk"),
        prompt=Sum("prompt_tokens"),
        cached=Sum("cached_tokens"),
        output=Sum("output_tokens"),
        thoughts=Sum("thought_tokens"),
    )


def row_of(exchange: Exchange) -> Row:
    asked = texts.visible(getattr(exchange, "asked", "") or "")
    return Row(exchange, asked, ribbon_of(exchange), verdict_of(exchange), end_of(exchange))


def ribbon_of(exchange: Exchange) -> Ribbon:
    return draw(
        exchange.layer_tokens,
        prompt=exchange.prompt_tokens,
        cached=exchange.cached_tokens,
        is_named=bool(exchange.cache_name),
    )


def verdict_of(exchange: Exchange) -> Finding | None:
    code = exchange.verdict
    if not code:
        return None
    tone = "good" if code.upper() in GOOD else "warn" if code.upper() in BAD else "accent"
    return Finding(code.replace("_", " ").lower(), tone, exchange.verdict_words)


def end_of(exchange: Exchange) -> Finding:
    """How the exchange ended, with words: an error, an outcome, or still open."""
    if exchange.error:
        code = exchange.error.get("code")
        word = f"error {code}" if code else "error"
        return Finding(word, "bad", texts.visible(str(exchange.error.get("message", ""))))
    if exchange.outcome:
        return outcome_of(exchange.outcome)
    return (
        Finding("waiting", "accent", "No answer has come yet.")
        if exchange.is_open
        else Finding("ended", "", "")
    )


def outcome_of(value: str) -> Finding:
    try:
        outcome = Outcome(value)
    except ValueError:
        # A row written by an older version may hold a word this one no longer has.
        return Finding(value.replace("_", " "), "warn", "")
    tone = "good" if outcome in (Outcome.COMPLETE, Outcome.CALLS) else "warn"
    return Finding(value.replace("_", " "), tone, outcome.words)


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


def header_of(exchange: Exchange) -> Header:
    return Header(
        ribbon_of(exchange),
        verdict_of(exchange),
        end_of(exchange),
        equation_of(exchange),
        neighbours_of(exchange),
        notes_of(exchange),
    )
