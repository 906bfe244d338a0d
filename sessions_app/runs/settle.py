"""From a reply to rows: the turn, the usage, the verdict; and how a run ends, whatever ended it."""

import uuid
from collections.abc import Sequence
from time import perf_counter

from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from sessions_app.errors import CacheGone, PipewebError
from sessions_app.events import Finished
from sessions_app.gemini.routes import route_from
from sessions_app.models import CacheEntry, Exchange, Notification, Run, RunLog, Session, Turn
from sessions_app.models.run import storable
from sessions_app.prompt.caching import VerdictCode
from sessions_app.prompt.reply import Outcome, Reply, Usage
from sessions_app.prompt.turns import Answer, TurnKind, calls_in, parts_of, tool_response
from sessions_app.prompt.turns import Turn as TurnValue
from sessions_app.prompt.verdict import Verdict, judge
from sessions_app.prompt.wire import dumps
from sessions_app.runs.account import account, implicit_minimum, pronounce, tell
from sessions_app.runs.draft import Draft
from sessions_app.runs.listening import Listening

ANSWERED = [
    "usage",
    "prompt_tokens",
    "cached_tokens",
    "output_tokens",
    "thought_tokens",
    "served_model",
    "response_id",
    "finish_reason",
    "outcome",
    "total_ms",
    "first_chunk_ms",
    "thought_ms",
    "verdict",
    "verdict_words",
    "stages",
    "ledger",
    "break_line",
    "price",
    "money",
    "usd",
    "error",
    "ended_at",
]
"""What an answer adds to an exchange; what was sent is never written again."""

STOPPED_TOOL = {
    "error": "The run was stopped before this tool had answered.",
    "hint": "Ask again if it is needed.",
}


@transaction.atomic
def settle(draft: Draft, reply: Reply, total_ms: float, heard: Listening) -> Turn | None:
    """Records what the provider answered; answers the turn, or None when there is nothing to keep.

    An error is never stored as a model answer: only text and calls become a turn.
    """
    exchange, began = draft.exchange, perf_counter()
    _account(exchange, reply, total_ms, heard)
    _judge(draft, reply)
    tell(exchange, began)
    exchange.save(update_fields=ANSWERED)
    if reply.wire is None:
        return None
    if reply.outcome is Outcome.CALLS:
        return _grow(exchange, reply.wire, TurnKind.FUNCTION_CALLING)
    if reply.outcome.is_answer:
        return _grow(exchange, reply.wire, TurnKind.MODEL_RESPONSE, cut=reply.outcome is not Outcome.COMPLETE)
    return _grow_partial(exchange, reply)


def _account(exchange: Exchange, reply: Reply, total_ms: float, heard: Listening) -> None:
    usage = reply.usage
    exchange.usage = usage.raw
    if usage.raw:
        exchange.prompt_tokens, exchange.cached_tokens = usage.prompt, usage.cached
        exchange.output_tokens, exchange.thought_tokens = usage.output, usage.thoughts
    exchange.served_model = storable(reply.model_version, 80)
    exchange.response_id = storable(reply.response_id, 80)
    exchange.finish_reason = storable(reply.finish_reason, 40)
    exchange.outcome = reply.outcome.value
    exchange.total_ms, exchange.first_chunk_ms = total_ms, heard.first_ms
    exchange.thought_ms = heard.thought_ms
    exchange.ended_at = timezone.now()


def _judge(draft: Draft, reply: Reply) -> None:
    seen = account(draft.exchange, reply, items=draft.payload.items)
    minimum = implicit_minimum(draft.work.capabilities)
    pronounce(draft.exchange, judge(draft.plan, reply.usage, seen, minimum=minimum))
    if draft.work.warning:
        draft.exchange.money["notice"] = draft.work.warning
    if draft.plan.is_hit:
        CacheEntry.objects.count_hit(draft.fingerprint)


def _grow(exchange: Exchange, wire: bytes, kind: TurnKind, *, cut: bool = False) -> Turn:
    value = TurnValue(key=str(uuid.uuid4()), kind=kind, wire=wire, route=_route_of(exchange))
    run = exchange.run
    return Turn.grow(run.session, value, parent=_head(run), run=run, exchange=exchange, cut=cut)


def _route_of(exchange: Exchange) -> str:
    """The model that answered made the signatures, whatever name was asked."""
    return route_from(exchange.route, exchange.served_model)


def _head(run: Run) -> Turn | None:
    """The session's head now: a branch grows from there, not from where this process last saw it."""
    heads = Session.objects.filter(pk=run.session_id).values("head")
    return Turn.objects.filter(pk__in=heads).defer("text").first()


@transaction.atomic
def give_up(draft: Draft, error: PipewebError) -> None:
    """Ends an exchange that will be asked for again, and keeps it as it was.

    When the provider no longer knows the cache, the entry is dropped, so that nobody names it again.
    """
    exchange, began = draft.exchange, perf_counter()
    exchange.ended_at = timezone.now()
    pronounce(exchange, Verdict(VerdictCode.UNKNOWN, "The provider did not answer this request."))
    if isinstance(error, CacheGone):
        pronounce(exchange, judge(draft.plan, Usage(), cache_gone=True))
        for entry in CacheEntry.objects.filter(fingerprint=draft.fingerprint, name=draft.plan.name):
            entry.drop(error.message)
    exchange.fail(error)
    tell(exchange, began)
    exchange.save(update_fields=ANSWERED)


@transaction.atomic
def grow_answers(run: Run, answers: Sequence[Answer]) -> Turn:
    """One tool-response turn with all answers of a round, in call order."""
    return Turn.grow(run.session, tool_response(str(uuid.uuid4()), answers), parent=_head(run), run=run)


@transaction.atomic
def complete(run: Run, outcome: Outcome, seq: int, words: int) -> Finished | None:
    """Ends a run whose answer is stored; None when it was over already.

    The last event, numbered `seq`, is logged in the same transaction, so nobody hears of an end that
    is not stored.
    """
    ended = Run.objects.active().filter(pk=run.pk)
    if not ended.update(status=Run.Status.COMPLETED, outcome=outcome.value, ended_at=timezone.now()):
        return None
    return _log_end(run, Run.Status.COMPLETED, seq, words)


@transaction.atomic
def close(
    run_pk: int, status: Run.Status, *, outcome: str = "", error: PipewebError | None = None
) -> Finished | None:
    """Ends an active run without an answer and leaves a history that can be continued.

    Stop, failure and a dead process all come here: what was written down is folded, its text is
    kept as a cut turn, half a round of calls is answered with errors. None when it was over already.
    """
    run = Run.objects.select_for_update(of=("self",)).select_related("session").get(pk=run_pk)
    if not run.is_active:
        return None
    for exchange in run.exchanges.filter(ended_at=None):
        _keep_partial(exchange, error)
    _answer_open_calls(run)
    run.end(status, outcome=outcome, error=error)
    if status == Run.Status.INTERRUPTED and error is not None:
        kind = Notification.Kind.RELOAD_RESUME
        Notification.objects.note(run.session_id, kind, error.message, source=str(run.public))
    last = run.log.aggregate(last=Max("seq_to"))["last"]
    said = run.turns.filter(kind=TurnKind.MODEL_RESPONSE).order_by("-depth").values_list("text", flat=True)
    return _log_end(run, status, 0 if last is None else last + 1, len((said.first() or "").split()))


def _log_end(run: Run, status: Run.Status, seq: int, words: int) -> Finished:
    finished = Finished(run=run.public, seq=seq, status=status.value, words=words)
    RunLog.of(run, seq, [finished.wire()]).save(force_insert=True)
    return finished


def _keep_partial(exchange: Exchange, error: PipewebError | None) -> None:
    began, chunks = perf_counter(), list(exchange.chunks.all())
    heard = Listening()
    for chunk in chunks:
        heard.take(chunk.ms, bytes(chunk.body))
    reply = heard.folder.reply()
    _account(exchange, reply, chunks[-1].ms if chunks else 0, heard)
    if error is not None:
        exchange.fail(error)
    account(exchange, reply, is_cut=True)
    pronounce(exchange, Verdict(VerdictCode.UNKNOWN, "The answer was not received to its end."))
    tell(exchange, began)
    exchange.save(update_fields=ANSWERED)
    _grow_partial(exchange, reply)


def _grow_partial(exchange: Exchange, reply: Reply) -> Turn | None:
    """Keeps the text without calls: a call whose answer will never come must not be replayed."""
    if not reply.text or reply.wire is None:
        return None
    parts = [part.raw for part in parts_of(reply.wire) if part.kind in ("text", "thought")]
    return _grow(exchange, dumps({"role": "model", "parts": parts}), TurnKind.MODEL_RESPONSE, cut=True)


def _answer_open_calls(run: Run) -> None:
    head = _head(run)
    if head is None or head.run_id != run.pk or head.kind != TurnKind.FUNCTION_CALLING:
        return
    grow_answers(run, [Answer(call, STOPPED_TOOL) for call in calls_in(head.wire)])
