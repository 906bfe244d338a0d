"""The answer to a captured request: chunks, attempt, turn, verdict and money, as those of our requests."""

from contextlib import suppress
from dataclasses import replace
from time import perf_counter
from typing import Any

from sessions_app.capture.answer_turns import add_answer_turn, begun_turn
from sessions_app.capture.captured_exchange import served_before
from sessions_app.capture.captured_history import RememberedHistories, advance
from sessions_app.capture.framing import CutAnswer, cut_answer
from sessions_app.context.model_lookup import facts_of
from sessions_app.error_codes import RefusalCode
from sessions_app.errors import AnswerRefused, GatewayError
from sessions_app.exchange_sums import is_cut_off
from sessions_app.gemini.error_mapping import error_of_answer
from sessions_app.models import (
    Blob,
    CacheEntry,
    CapturedRequest,
    Exchange,
    ExchangeAttempt,
    RawChunk,
    Run,
)
from sessions_app.models.blob import digest
from sessions_app.models.exchange_attempt import AttemptRow
from sessions_app.models.run import describe
from sessions_app.prompt import wire
from sessions_app.prompt.reply import Reply, Usage
from sessions_app.prompt.routes import endpoint_of
from sessions_app.prompt.verdict import Comparison, Verdict, VerdictReason
from sessions_app.runs import causes
from sessions_app.runs.accounting import account_for, append_stages, implicit_minimum, set_verdict
from sessions_app.runs.reply_facts import fold_hops, set_reply_facts
from sessions_app.runs.reply_progress import ReplyProgress

RELAY_ERROR = "RelayRefused"
"""`Exchange.error["kind"]` of a request that Pipeweb did not relay to its end; `reason` is a CaptureFault."""


def end_exchange(captured: CapturedRequest, body: bytes, remembered: RememberedHistories) -> None:
    """Stores how a request was answered. `captured` has the facts of the end. Must run in a transaction."""
    exchange = captured.exchange
    assert exchange is not None
    began, is_answer = perf_counter(), captured.status == 200
    answer = cut_answer(body, captured.packets, captured.total_ms or 0.0) if is_answer else CutAnswer()
    chunks = [(exchange.pk, seq, one.ms, one.body) for seq, one in enumerate(answer.chunks)]
    RawChunk.objects.append(chunks)
    reply, whole = _set_reply(exchange, captured, answer)
    _add_attempt(exchange, captured, answer.unread if is_answer else body)
    is_cut = bool(captured.fault) or captured.is_cut
    is_unread = not exchange.outcome and bool(body.strip())
    exchange.error = _error(captured, reply, body, is_unread=is_unread)
    exchange.previous = compared_with(exchange, captured)
    _set_account(exchange, reply, captured)
    append_stages(exchange, began)
    exchange.save()
    turn = add_answer_turn(exchange, whole, is_cut=is_cut)
    if turn is not None:
        if exchange.continues_id is not None:
            remembered.forget_answers()
        remembered.add_answer(exchange.session_id, turn)
    if shown := turn or begun_turn(exchange):
        advance(exchange.session, shown, captured.role, captured.received_at)
    _end_run(exchange)
    keeps_body = is_answer and answer.framing is None and bool(body)
    CapturedRequest.objects.filter(pk=captured.pk).update(
        framing=list(answer.framing or ()),
        response_body=Blob.objects.store(exchange.session.owner_id, [body])[digest(body)]
        if keeps_body
        else None,
    )


def _set_reply(exchange: Exchange, captured: CapturedRequest, answer: CutAnswer) -> tuple[Reply, Reply]:
    """Sets what the answer says of itself; no outcome where no chunk can be read. What is no JSON stays a
    chunk, as it arrived. Without recorded packets only the time of the first byte may be known.

    Returns the reply, and the answer of all hops that it ends, whose outcome it has.
    """
    progress, is_read = ReplyProgress("gemini"), False
    for one in answer.chunks:
        with suppress(ValueError):
            progress.take(one.ms, one.body)
            is_read = True
    reply = whole = progress.folder.reply()
    if is_read and exchange.continues_id is not None:
        whole = fold_hops(exchange)
        reply = replace(reply, outcome=whole.outcome)
    set_reply_facts(exchange, reply, progress, captured.total_ms, captured.ended_at)
    if not is_read:
        exchange.outcome, exchange.first_chunk_ms = "", None
    elif not captured.packets:
        exchange.first_chunk_ms, exchange.thought_ms = captured.first_ms, None
    return reply, whole


def _add_attempt(exchange: Exchange, captured: CapturedRequest, refused: bytes) -> None:
    attempt = ExchangeAttempt(
        exchange=exchange,
        number=1,
        started_at=captured.received_at,
        request_headers=captured.headers,
        status=captured.status,
        response_headers=captured.response_headers,
        head_ms=captured.first_ms,
        total_ms=captured.total_ms,
        is_cut=captured.is_cut,
    )
    ExchangeAttempt.objects.append([AttemptRow(attempt, exchange.session.owner_id, refused)])


def _error(captured: CapturedRequest, reply: Reply, body: bytes, *, is_unread: bool) -> dict[str, Any]:
    """As stored: why Pipeweb ended it, else what the provider said, without a hint for a person in a chat;
    else that nothing of a whole answer could be read.
    """
    if captured.fault:
        return {"kind": RELAY_ERROR, "reason": captured.fault, "status": captured.status}
    error: GatewayError | None = None
    if captured.status is not None and captured.status >= 400:
        said: Any = {}
        with suppress(ValueError):
            said = wire.loads(body)
        error = error_of_answer(captured.status, said[0] if isinstance(said, list) and said else said)
    elif reply.error is not None:
        error = error_of_answer(None, {"error": reply.error})
    elif captured.status == 200 and is_unread and not captured.is_cut:
        return describe(AnswerRefused(RefusalCode.ANSWER_UNREADABLE))
    return describe(error) | {"hint": ""} if error else {}


def compared_with(exchange: Exchange, captured: CapturedRequest) -> Exchange | None:
    """The nearest counted request on the way that this one goes on from in its lane, else the lane's last:
    two queries, and one for each request on the way that was not counted. A hop goes on from the hop before.
    """
    if exchange.continues is not None:
        return exchange.continues
    lane = CapturedRequest.objects.filter(
        address=captured.address_id,
        lane=captured.lane,
        exchange__session=exchange.session_id,
        exchange__number__lt=exchange.number,
    ).select_related("exchange")
    row = lane.filter(public=captured.before).first() if captured.before else None
    while row is not None and not (row.exchange and row.exchange.prompt_tokens):
        row = lane.filter(public=row.before).first() if row.before else None
    row = row or lane.filter(exchange__prompt_tokens__gt=0).order_by("-exchange__number").first()
    return row.exchange if row else None


def judge(exchange: Exchange, usage: Usage, comparison: Comparison | None, captured: CapturedRequest) -> None:
    """Sets the verdict and what was lost by it; outcome, ledger and cost have to be set before."""
    if not exchange.outcome:
        set_verdict(exchange, _unread_verdict(exchange, captured))
    elif captured.fault or captured.is_cut:
        set_verdict(exchange, Verdict(VerdictReason.CUT_OFF))
    else:
        plan = exchange.cache_plan
        assert plan is not None
        tokens = [entry.tokens for entry in exchange.ledger_entries()]
        answered = causes.AnsweredRequest(exchange, plan, tokens, _minimum(exchange))
        set_verdict(exchange, causes.verdict_for(answered, usage, comparison))


def _unread_verdict(exchange: Exchange, captured: CapturedRequest) -> Verdict:
    """The verdict of an exchange without a readable chunk; something may have come all the same."""
    has_come = captured.is_cut or captured.response_size > 0
    if captured.status == 200 and has_come and (captured.fault or captured.is_cut):
        return Verdict(VerdictReason.CUT_OFF)
    if exchange.error.get("reason") == RefusalCode.ANSWER_UNREADABLE:
        return Verdict(VerdictReason.UNREADABLE)
    return causes.refused_verdict(exchange, str(exchange.error.get("kind")))


def _set_account(exchange: Exchange, reply: Reply, captured: CapturedRequest) -> None:
    is_cut = bool(captured.fault) or captured.is_cut
    is_cut = is_cut or is_cut_off(exchange)
    comparison = account_for(exchange, reply, is_cut=is_cut, is_imported=captured.address.is_of_file)
    entry = CacheEntry.objects.filter(fingerprint=exchange.fingerprint, name=exchange.cache_name).first()
    if exchange.cache_name and entry is not None and exchange.outcome:
        CacheEntry.objects.note_use(entry.pk, exchange)
    judge(exchange, reply.usage, comparison, captured)


def _minimum(exchange: Exchange) -> int | None:
    """As it was known before the answer."""
    endpoint = endpoint_of(exchange.route)
    served = served_before(exchange.session_id, exchange.model, endpoint, exchange.number)
    return implicit_minimum(facts_of(exchange.model, served))


def _end_run(exchange: Exchange) -> None:
    """A run is as its newest request is; the others of a lane may still be under way."""
    run = exchange.run
    newest = run.exchanges.order_by("-number").values_list("pk", flat=True).first()
    if newest != exchange.pk:
        return
    is_ours = exchange.error.get("kind") == RELAY_ERROR
    run.status = (
        Run.Status.STOPPED if is_ours else Run.Status.FAILED if exchange.error else Run.Status.COMPLETED
    )
    run.outcome, run.error, run.ended_at = exchange.outcome, exchange.error, exchange.ended_at
    run.save(update_fields=["status", "outcome", "error", "ended_at"])
