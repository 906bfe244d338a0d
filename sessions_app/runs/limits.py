"""The limits of a run.

Usage counts from the person's last message: an automatic run shares the limits of the run it continues. The
time for which a run waits for a person (`parking`) does not count, nor what the system's clock is set by.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from decimal import Decimal
from time import monotonic

from django.db.models import Sum

from sessions_app.database import database_sync_to_async
from sessions_app.error_codes import RefusalCode
from sessions_app.errors import LimitReached, OverLimit
from sessions_app.models import Exchange, Notification, Run, SessionSettings
from sessions_app.wording.refusals import error_texts

HOP_LIMIT = 32
"""Requests that one answer may take. Sixteen fill the window of the model that continues (gemini-wire §8)."""


@dataclass(frozen=True, slots=True)
class RunUsage:
    """`rounds` of tools of this run; `tokens`, `seconds` and known `usd` since the person's last message."""

    rounds: int = 0
    tokens: int = 0
    usd: Decimal = Decimal(0)
    seconds: float = 0


def reached_limit(spent: RunUsage, limits: SessionSettings) -> LimitReached | None:
    """The limit that has been reached (usage ≥ value), or None."""
    usd = float(spent.usd)
    if limits.max_rounds is not None and spent.rounds >= limits.max_rounds:
        return LimitReached(RefusalCode.MAX_ROUNDS, spent=spent.rounds, limit=limits.max_rounds)
    if limits.max_tokens is not None and spent.tokens >= limits.max_tokens:
        return LimitReached(RefusalCode.MAX_TOKENS, spent=spent.tokens, limit=limits.max_tokens)
    if limits.max_usd is not None and usd >= limits.max_usd:
        return LimitReached(RefusalCode.MAX_USD, spent=usd, limit=limits.max_usd)
    if limits.max_seconds is not None and spent.seconds >= limits.max_seconds:
        return LimitReached(RefusalCode.MAX_SECONDS, spent=spent.seconds, limit=limits.max_seconds)
    return None


def check_limits(run: Run, step: int) -> None:
    """Checks the limits before the calls of exchange `step` run: one query.

    Raises LimitReached, with a notification. The open calls are then answered with errors.
    """
    limit = reached_limit(usage_of(run, rounds=step - 1), run.session.options)
    if limit is not None:
        raise _notified(run, limit)


def check_hop(run: Run, hops: int) -> None:
    """Checks the limits before an answer goes on that has taken `hops` requests. Raises LimitReached."""
    check_limits(run, step=1)
    if hops >= HOP_LIMIT:
        raise _notified(run, LimitReached(RefusalCode.MAX_HOPS, spent=hops, limit=HOP_LIMIT))


@asynccontextmanager
async def time_limit(run: Run) -> AsyncIterator[None]:
    """Ends what it encloses when the run reaches its limit of seconds. Raises LimitReached."""
    left = await database_sync_to_async(_seconds_left)(run) if run.continuations else _seconds_left(run)
    try:
        async with asyncio.timeout(left) as timer:
            yield
    except TimeoutError:
        limit = run.session.options.max_seconds
        if not timer.expired() or limit is None:
            raise
        reached = LimitReached(RefusalCode.MAX_SECONDS, spent=float(limit), limit=limit)
        raise await database_sync_to_async(_notified)(run, reached) from None


def _seconds_left(run: Run) -> float | None:
    """None without a limit. No query, unless the run continues another."""
    limit = run.session.options.max_seconds
    if limit is None:
        return None
    return max(0.0, limit - _seconds_of(run))


def _seconds_of(run: Run) -> float:
    return max(0.0, monotonic() - run.began)


def _notified(run: Run, limit: LimitReached) -> LimitReached:
    notify_limit(run, limit)
    return limit


def usage_of(run: Run, *, rounds: int = 0) -> RunUsage:
    """Usage of the run and of the runs that it continues."""
    earlier = Run.objects.filter(session_id=run.session_id, pk__lte=run.pk).order_by("-pk")
    chain = earlier.values("pk")[: run.continuations + 1]
    sums = Exchange.objects.filter(run__in=chain).aggregate(
        prompt=Sum("prompt_tokens"),
        output=Sum("output_tokens"),
        thoughts=Sum("thought_tokens"),
        paid=Sum("usd"),
    )
    return RunUsage(
        rounds=rounds,
        tokens=sum(sums[name] or 0 for name in ("prompt", "output", "thoughts")),
        usd=sums["paid"] or Decimal(0),
        seconds=_seconds_of(run),
    )


def notify_limit(run: Run, limit: LimitReached | OverLimit) -> Notification:
    """Stored once until it is seen, however often the limit is reached."""
    text, _ = error_texts(limit)
    return Notification.objects.add(
        run.session_id, Notification.Kind.GUARD_RAIL, text, source=limit.reason.value
    )
