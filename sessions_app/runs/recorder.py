"""Stores replies and the end of runs: turn, usage, verdict, cost, last event."""

import uuid
from collections.abc import Callable
from dataclasses import replace
from time import perf_counter
from typing import NamedTuple

import structlog
from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from sessions_app.errors import CacheGone, PipewebError
from sessions_app.events import Finished
from sessions_app.exchange_sums import is_cut_off
from sessions_app.gemini.routes import route_from
from sessions_app.models import CacheEntry, Exchange, Notification, Run, Session, Turn
from sessions_app.models.branches import head_of
from sessions_app.models.cache_event import CausedBy
from sessions_app.models.prepared import update
from sessions_app.models.run import describe
from sessions_app.prompt.answer_schema import Fit
from sessions_app.prompt.caching import EntryReason, VerdictCode
from sessions_app.prompt.parts import content, parts_of
from sessions_app.prompt.provider_tools import KEPT_OF_CUT, whole_uses
from sessions_app.prompt.reply import Outcome, Reply
from sessions_app.prompt.turns import Turn as TurnValue
from sessions_app.prompt.turns import TurnKind
from sessions_app.prompt.wire import dumps
from sessions_app.runs import causes
from sessions_app.runs.accounting import account_for, append_stages, implicit_minimum, set_verdict
from sessions_app.runs.cache_bookings import record_end
from sessions_app.runs.completion import Completion, LastEvent, log_end, mark_completed, note_completion
from sessions_app.runs.continuation import counts_usage
from sessions_app.runs.history_drops import carry_out_drops
from sessions_app.runs.reply_facts import fit_of_reply, fold_hops, set_reply_facts
from sessions_app.runs.reply_progress import ReplyProgress
from sessions_app.runs.reply_setting import read_setting
from sessions_app.runs.request import PreparedRequest
from sessions_app.runs.tool_rounds import close_round
from sessions_app.storage_errors import is_temporary

log = structlog.get_logger("pipeweb.runs")

REPLY_FIELDS = [
    "usage",
    "prompt_tokens",
    "cached_tokens",
    "output_tokens",
    "thought_tokens",
    "searches",
    "served_model",
    "response_id",
    "finish_reason",
    "outcome",
    "total_ms",
    "first_chunk_ms",
    "thought_ms",
    "verdict",
    "verdict_figures",
    "stages",
    "ledger",
    "break_line",
    "lost_tokens",
    "lost_usd",
    "price",
    "money",
    "usd",
    "error",
    "ended_at",
]
"""Columns of Exchange that a reply sets."""


class RecordedReply(NamedTuple):
    """The turn of an answer, None while it goes on or without content; the end of its run, if it ended."""

    turn: Turn | None
    completion: Completion | None


@transaction.atomic
def record_reply(
    prepared: PreparedRequest,
    reply: Reply,
    total_ms: float,
    progress: ReplyProgress,
    last: LastEvent | None = None,
) -> RecordedReply:
    """Stores the response and the turn of the answer; with `last`, the end of the run as well.

    `reply` is the answer with its earlier hops. Raises RunEnded. After another error it may be called again.
    """
    exchange, began, response = prepared.exchange, perf_counter(), progress.response(reply)
    run, stages = exchange.run, exchange.stages
    if last is None:
        Run.objects.hold(run.pk)
    else:
        mark_completed(run, reply.outcome)
    try:
        exchange.stages = [*stages]
        set_reply_facts(exchange, response, progress, total_ms)
        setting = read_setting(exchange)
        turn = _turn_of(exchange, reply, setting.head, fit_of_reply(prepared.context.sent_schema, reply))
        _set_account(prepared, response, turn)
        append_stages(exchange, began)
        if last is None:
            update(exchange, *REPLY_FIELDS)
            return RecordedReply(turn, None)
        if counts_usage(run, reply.outcome):
            update(exchange, *REPLY_FIELDS)
        completion = note_completion(run, reply.outcome, last, exchange, setting.waiting)
        update(exchange, *REPLY_FIELDS)
        if setting.has_drops:
            carry_out_drops(run)
        return RecordedReply(turn, completion)
    except BaseException:
        exchange.stages = stages
        raise


def _turn_of(exchange: Exchange, reply: Reply, head: Turn | None, fit: Fit | None) -> Turn | None:
    """Adds the turn of an answer below the head, which it does not become yet."""
    if reply.wire is None or reply.outcome is Outcome.CONTINUES:
        return None
    if reply.outcome is Outcome.CALLS:
        return _add_turn(exchange, reply, TurnKind.FUNCTION_CALLING, head)
    if reply.outcome.is_answer:
        is_cut = reply.outcome is not Outcome.COMPLETE
        return _add_turn(exchange, reply, TurnKind.MODEL_RESPONSE, head, cut=is_cut, fit=fit)
    return _add_partial_turn(exchange, reply, head)


def _set_account(prepared: PreparedRequest, reply: Reply, turn: Turn | None) -> None:
    exchange = prepared.exchange
    items = prepared.payload.items
    # Before the session and its day: whoever extends a cache books that with the cache's row locked.
    if prepared.cache_entry is not None:
        CacheEntry.objects.note_use(prepared.cache_entry, exchange)
    comparison = account_for(exchange, reply, items=items, is_cut=is_cut_off(exchange), head=turn)
    minimum = implicit_minimum(prepared.context.capabilities)
    tokens = [item.tokens for item in prepared.payload.items]
    answered = causes.AnsweredRequest(exchange, prepared.plan, tokens, minimum)
    set_verdict(exchange, causes.verdict_for(answered, reply.usage, comparison))
    if prepared.near_budgets:
        exchange.money["budgets"] = [budget.stored() for budget in prepared.near_budgets]


def _add_turn(
    exchange: Exchange,
    reply: Reply,
    kind: TurnKind,
    head: Turn | None,
    *,
    cut: bool = False,
    fit: Fit | None = None,
) -> Turn:
    value = TurnValue(key=str(uuid.uuid4()), kind=kind, wire=reply.wire or b"", route=_route_of(exchange))
    run = exchange.run
    return Turn.append(
        run.session,
        value,
        parent=head,
        run=run,
        exchange=exchange,
        cut=cut,
        citations=reply.citations,
        fit=fit,
        advances=False,
    )


def _route_of(exchange: Exchange) -> str:
    """The route of the signatures: that of the serving model."""
    return route_from(exchange.route, exchange.served_model)


@transaction.atomic
def record_failure(prepared: PreparedRequest, error: PipewebError) -> None:
    """Ends an exchange that will be retried; after CacheGone also drops the cache entry."""
    exchange, began = prepared.exchange, perf_counter()
    exchange.ended_at = timezone.now()
    if isinstance(error, CacheGone):
        by = CausedBy(exchange.pk, exchange.session_id)
        for named in CacheEntry.objects.filter(fingerprint=prepared.fingerprint, name=prepared.plan.name):
            record_end(named, EntryReason.PROVIDER, error.message, by=by)
    set_verdict(exchange, causes.refused_verdict(exchange, type(error).__name__))
    exchange.fail(error)
    append_stages(exchange, began)
    update(exchange, *REPLY_FIELDS)


def close_run(
    run_pk: int, status: Run.Status, *, outcome: str = "", error: PipewebError | None = None
) -> Finished | None:
    """Ends an active run after a stop, a failure or the death of its process; None when it has ended or is
    erased.

    Stored chunks are folded, text is kept as a cut turn, the round of tools is answered with what is known
    of its calls, so that the history can be continued. Chunks that cannot be folded stay as they are.
    `run_end.end_run` also ends runs whose own row cannot be read.
    """
    try:
        return _close(run_pk, status, outcome, error, _fold)
    except Exception as failure:
        if is_temporary(failure):
            raise
        log.exception("fold_failed", run=run_pk)
        return _close(run_pk, status, outcome, error, _end_unfolded)


@transaction.atomic
def _close(
    run_pk: int,
    status: Run.Status,
    outcome: str,
    error: PipewebError | None,
    keep: Callable[[Run, PipewebError | None], None],
) -> Finished | None:
    run = Run.objects.select_for_update(of=("self",)).select_related("session").filter(pk=run_pk).first()
    if run is None and Run.objects.filter(pk=run_pk).exists():
        raise Session.DoesNotExist  # The row is damaged: `run_end` ends it.
    if run is None or not run.is_active:
        return None
    keep(run, error)
    run.end(status, outcome=outcome, error=error)
    if status == Run.Status.INTERRUPTED and error is not None:
        kind = Notification.Kind.RELOAD_RESUME
        Notification.objects.add(run.session_id, kind, error.message, source=str(run.public))
    last = run.log.aggregate(last=Max("seq_to"))["last"]
    texts = run.turns.filter(kind=TurnKind.MODEL_RESPONSE).order_by("-depth").values_list("text", flat=True)
    return log_end(
        run, status, LastEvent(0 if last is None else last + 1, len((texts.first() or "").split()))
    )


def _fold(run: Run, error: PipewebError | None) -> None:
    for exchange in run.exchanges.filter(ended_at=None):
        _end_exchange(exchange, error)
    _keep_arrived(run)
    close_round(run)


def _end_unfolded(run: Run, error: PipewebError | None) -> None:
    run.exchanges.filter(ended_at=None).update(
        ended_at=timezone.now(), error=describe(error) if error else {}, verdict=VerdictCode.UNKNOWN.value
    )


def _end_exchange(exchange: Exchange, error: PipewebError | None) -> None:
    began, chunks = perf_counter(), list(exchange.chunks.all())
    progress = ReplyProgress(exchange.dialect)
    for chunk in chunks:
        progress.take(chunk.ms, bytes(chunk.body))
    reply, total_ms = progress.folder.reply(), exchange.attempts.duration()
    if total_ms is None and chunks:
        total_ms = chunks[-1].ms
    set_reply_facts(exchange, reply, progress, total_ms)
    if error is not None:
        exchange.fail(error)
    if chunks and exchange.cache_name:
        _note_use(exchange)
    account_for(exchange, reply, is_cut=True)
    set_verdict(exchange, causes.unended_verdict(error, has_chunks=bool(chunks)))
    append_stages(exchange, began)
    update(exchange, *REPLY_FIELDS)


def _note_use(exchange: Exchange) -> None:
    """An answer that was cut off came from the cache as well."""
    entry = CacheEntry.objects.filter(fingerprint=exchange.fingerprint).first()
    if entry is not None:
        CacheEntry.objects.note_use(entry.pk, exchange)


def _keep_arrived(run: Run) -> None:
    """Keeps what arrived of the last answer, which has no turn where it was not recorded to its end."""
    last = run.exchanges.order_by("number").last()
    if last is None or last.turns.exists():
        return
    turn = _add_partial_turn(last, fold_hops(last), head_of(run.session_id))
    if turn is not None:
        turn.session.advance(turn)


def _add_partial_turn(exchange: Exchange, reply: Reply, head: Turn | None) -> Turn | None:
    """Keeps text, thoughts, what the provider's tools did and unknown parts, without calls, which would stay
    unanswered.
    """
    if not reply.text or reply.wire is None:
        return None
    parts = [part.raw for part in whole_uses(parts_of(reply.wire)) if part.kind in KEPT_OF_CUT]
    kept = replace(reply, wire=dumps(content("model", parts)))
    return _add_turn(exchange, kept, TurnKind.MODEL_RESPONSE, head, cut=True)
