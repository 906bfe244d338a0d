"""What would have saved money in a session: its losses by cause, read from the rows of all its exchanges."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from django.db.models import Count, Q, QuerySet

from sessions_app.inspector.cache_uses import cache_uses
from sessions_app.inspector.losses import shown_sum
from sessions_app.inspector.turn_variants import Resent, signatures_only
from sessions_app.models import Exchange, Session, Source
from sessions_app.prompt.missed_reuse import missed_reuse
from sessions_app.prompt.payload import TOOLS_SOURCE
from sessions_app.prompt.prefix_diff import CacheLoss
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

COLUMNS = (
    "number",
    "previous",
    "previous__cache_name",
    "lost_tokens",
    "lost_usd",
    "verdict_figures",
    "break_line",
    "prompt_tokens",
    "price",
)

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
    missed: Sequence[ShownSaving] = ()
    missed_total: str = ""
    """What could have been reused besides, and a sentence about all of it."""


class _Lossy(NamedTuple):
    """An exchange that lost something, or in which something had changed."""

    exchange: Exchange
    verdict: Verdict | None
    cause: SavingCause


def savings_in(session: Session, now: datetime) -> Savings:
    """A number of queries that does not depend on the length of the session."""
    # As `losses_of`: exchanges that nothing was counted for, such as refused ones, have lost nothing.
    counted = Exchange.objects.filter(session=session, prompt_tokens__isnull=False).exclude(verdict="")
    counts = counted.order_by().aggregate(
        answered=Count("pk"), unknown=Count("pk", filter=Q(lost_tokens=None))
    )
    lossy = list(_lossy(session, counted))
    return savings_of(
        (_of_exchange(one, one.exchange.loss) for one in lossy if one.exchange.lost_tokens),
        cache_uses(session, now),
        **counts,
        missed=(_of_exchange(one, miss) for one in lossy if (miss := _missed(one)).tokens),
    )


def shown_savings(session: Session, now: datetime) -> ShownSavings:
    found = savings_in(session, now)
    missed = [_shown(session, one, found.answered, at_most=True) for one in found.missed]
    missed_total = wording.missed_total(found.missed) if missed else ""
    if not found.causes:
        remarks = wording.remarks(found, is_emulated=bool(missed) and _is_emulated(session))
        return ShownSavings((), "", "", wording.nothing(found), remarks, missed, missed_total)
    rest = found.causes[SHOWN:]
    rest_cost = shown_sum(sum((one.usd for one in rest), NO_MONEY), is_whole=not any(map(_is_bound, rest)))
    return ShownSavings(
        [_shown(session, one, found.answered) for one in found.causes[:SHOWN]],
        wording.others(len(rest), rest_cost) if rest else "",
        wording.total(shown_sum(found.usd, is_whole=found.is_whole), found.tokens),
        "",
        wording.remarks(found, is_emulated=_is_emulated(session)),
        missed,
        missed_total,
    )


def _lossy(session: Session, counted: QuerySet[Exchange]) -> Iterator[_Lossy]:
    """In the order of the exchanges."""
    parted = Q(lost_tokens=0) & ~Q(break_line={})
    found = counted.filter(Q(lost_tokens__gt=0) | parted).select_related("price", "previous").only(*COLUMNS)
    return _told_apart(session, list(found.order_by("number")))


def _told_apart(session: Session, rows: Sequence[Exchange]) -> Iterator[_Lossy]:
    verdicts = [row.found_verdict for row in rows]
    resent = (
        Resent(row.pk, row.previous_id, row.break_line["source"])
        for row, verdict in zip(rows, verdicts, strict=True)
        if row.previous_id is not None and may_be_signature(verdict)
    )
    unsigned = signatures_only(session, resent)
    for row, verdict in zip(rows, verdicts, strict=True):
        yield _Lossy(row, verdict, cause_of(verdict, is_signature=row.pk in unsigned))


def _missed(one: _Lossy) -> CacheLoss:
    row = one.exchange
    rates = row.price.rates(row.prompt_tokens or 0) if row.price else None
    was_named = row.previous is not None and bool(row.previous.cache_name)
    return missed_reuse(one.verdict, one.cause, row.lost_tokens or 0, rates, was_named=was_named)


def _of_exchange(one: _Lossy, loss: CacheLoss) -> ExchangeLoss:
    verdict = one.verdict
    seen = (verdict.again or verdict.seen) if verdict is not None else None
    broken = verdict.seen.broken if verdict is not None and verdict.seen is not None else None
    culprit = broken if one.cause in OF_SOURCES else None
    return ExchangeLoss(
        one.exchange.number,
        one.cause,
        loss.tokens or 0,
        loss.usd,
        source=culprit.source if culprit else "",
        source_number=culprit.number if culprit else 0,
        idle_seconds=seen.idle_seconds if seen else 0.0,
        minimum=verdict.minimum if verdict is not None else 0,
    )


def missed_of(exchange: Exchange) -> CacheLoss:
    """What one exchange could have read from a cache at most, beyond what it lost."""
    if exchange.lost_tokens is None:
        return CacheLoss()
    (found,) = _told_apart(exchange.session, [exchange])
    return _missed(found)


def _shown(session: Session, one: Saving, answered: int, *, at_most: bool = False) -> ShownSaving:
    is_tools = one.cause is SavingCause.TOOLS and one.largest is not None
    tools = _tool_change(session, one.largest or 0) if is_tools else None
    return ShownSaving(
        wording.title(one.cause),
        wording.advice(one, answered, tools),
        one.requests,
        one.tokens,
        wording.at_most(one) if at_most else shown_sum(one.usd, is_whole=not _is_bound(one)),
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
