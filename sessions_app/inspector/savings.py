"""What would have saved money in a session: its losses by cause, read from the rows of all its exchanges."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, NamedTuple

from django.db.models import Count, Q, QuerySet

from sessions_app.inspector.cache_uses import cache_uses
from sessions_app.inspector.losses import shown_sum
from sessions_app.inspector.turn_variants import Resent, signatures_only
from sessions_app.models import Exchange, Session, Source
from sessions_app.prompt.payload import TOOLS_SOURCE
from sessions_app.prompt.prefix_diff import BreakLine
from sessions_app.prompt.saving_causes import (
    SavingCause,
    ToolChange,
    cause_of,
    may_be_signature,
    tool_change,
)
from sessions_app.prompt.savings import NO_MONEY, ExchangeLoss, Saving, Savings, savings_of
from sessions_app.prompt.verdict import Verdict
from sessions_app.wording import savings as wording

SHOWN = 3

OF_SOURCES = {
    SavingCause.SYSTEM_TEXT,
    SavingCause.CONTEXT_FIRST,
    SavingCause.ORDER,
    SavingCause.SIGNATURE,
    SavingCause.HISTORY,
}
"""Causes of which the source that did it is named."""


@dataclass(frozen=True, slots=True)
class ShownSaving:
    title: str
    advice: str
    requests: int
    tokens: int
    cost: str
    exchange: int | None
    """The one that lost most."""


@dataclass(frozen=True, slots=True)
class ShownSavings:
    """The largest causes; `others` is a sentence about the rest, `total` one about all of them."""

    rows: Sequence[ShownSaving]
    others: str
    total: str
    nothing: str
    """Instead of a table."""
    remarks: Sequence[str]


class _Lossy(NamedTuple):
    pk: int
    number: int
    previous: int | None
    tokens: int
    usd: Decimal | None
    figures: dict[str, Any]
    line: dict[str, Any]


def savings_in(session: Session, now: datetime) -> Savings:
    """A number of queries that does not depend on the length of the session."""
    # As `losses_of`: exchanges that nothing was counted for, such as refused ones, have lost nothing.
    counted = Exchange.objects.filter(session=session, prompt_tokens__isnull=False).exclude(verdict="")
    counts = counted.order_by().aggregate(
        answered=Count("pk"), unknown=Count("pk", filter=Q(lost_tokens=None))
    )
    losses = list(_losses(session, counted))
    return savings_of(
        losses, cache_uses(session, now), answered=counts["answered"], unknown=counts["unknown"]
    )


def shown_savings(session: Session, now: datetime) -> ShownSavings:
    found = savings_in(session, now)
    if not found.causes:
        remarks = wording.remarks(found, is_emulated=False)
        return ShownSavings((), "", "", wording.nothing(found), remarks)
    rest = found.causes[SHOWN:]
    rest_cost = shown_sum(sum((one.usd for one in rest), NO_MONEY), is_whole=not any(map(_is_bound, rest)))
    return ShownSavings(
        [_shown(session, one, found.answered) for one in found.causes[:SHOWN]],
        wording.others(len(rest), rest_cost) if rest else "",
        wording.total(shown_sum(found.usd, is_whole=found.is_whole), found.tokens),
        "",
        wording.remarks(found, is_emulated=_is_emulated(session)),
    )


def _losses(session: Session, counted: QuerySet[Exchange]) -> Iterator[ExchangeLoss]:
    """In the order of the exchanges."""
    columns = ("pk", "number", "previous", "lost_tokens", "lost_usd", "verdict_figures", "break_line")
    rows = counted.filter(lost_tokens__gt=0).order_by("number").values_list(*columns)
    lossy = [_Lossy(*row) for row in rows]
    verdicts = [Verdict.restored(one.figures, BreakLine.restored(one.line)) for one in lossy]
    resent = (
        Resent(one.pk, one.previous, one.line["source"])
        for one, verdict in zip(lossy, verdicts, strict=True)
        if one.previous is not None and may_be_signature(verdict)
    )
    unsigned = signatures_only(session, resent)
    for one, verdict in zip(lossy, verdicts, strict=True):
        yield _loss(one, verdict, is_signature=one.pk in unsigned)


def _loss(one: _Lossy, verdict: Verdict | None, *, is_signature: bool) -> ExchangeLoss:
    cause = cause_of(verdict, is_signature=is_signature)
    seen = (verdict.again or verdict.seen) if verdict is not None else None
    broken = verdict.seen.broken if verdict is not None and verdict.seen is not None else None
    culprit = broken if cause in OF_SOURCES else None
    return ExchangeLoss(
        one.number,
        cause,
        one.tokens,
        one.usd,
        source=culprit.source if culprit else "",
        source_number=culprit.number if culprit else 0,
        idle_seconds=seen.idle_seconds if seen else 0.0,
        minimum=verdict.minimum if verdict is not None else 0,
    )


def _shown(session: Session, one: Saving, answered: int) -> ShownSaving:
    is_tools = one.cause is SavingCause.TOOLS and one.largest is not None
    tools = _tool_change(session, one.largest or 0) if is_tools else None
    return ShownSaving(
        wording.title(one.cause),
        wording.advice(one, answered, tools),
        one.requests,
        one.tokens,
        shown_sum(one.usd, is_whole=not _is_bound(one)),
        one.largest,
    )


def _is_bound(one: Saving) -> bool:
    return one.unpriced > 0


def _tool_change(session: Session, number: int) -> ToolChange | None:
    """What happened to the tools in this exchange: two queries of one and of at most two rows."""
    rows = Exchange.objects.filter(session=session, number=number)
    found = rows.values_list("manifest", "previous__manifest").first() or ({}, {})
    now, before = ([entry[0] for entry in (one or {}).get("entries", [])] for one in found)
    named = Source.objects.filter(pk__in={*now, *before}, name=TOOLS_SOURCE).select_related("blob")
    tools = {row.pk: row.blob.bytes for row in named}
    return tool_change(*(next((tools[key] for key in keys if key in tools), b"") for keys in (before, now)))


def _is_emulated(session: Session) -> bool:
    """Whether all the session's known money is the emulator's."""
    return session.spent_usd > 0 and session.spent_usd == session.emulated_usd
