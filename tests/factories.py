"""Rows for tests, made the way a run makes them: real turns, real payloads, real folding."""

import base64
import itertools
import uuid
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import orjson
from django.contrib.auth.models import User
from django.utils import timezone

from sessions_app.models import Exchange, RawChunk, Run, Session, Turn
from sessions_app.prompt.calls import CallResponse
from sessions_app.prompt.layers import Layers, NamedText, StaticSources, build_layers
from sessions_app.prompt.panels import Panel
from sessions_app.prompt.payload import GenerationConfig, assemble
from sessions_app.prompt.reply import Reply, fold
from sessions_app.prompt.signatures import prepare_signatures
from sessions_app.prompt.turns import Turn as TurnValue
from sessions_app.prompt.turns import TurnKind, tool_response, user_task
from sessions_app.prompt.verdict import Verdict, VerdictReason
from sessions_app.runs.recorder import close_run

MODEL = "gemini-3-flash-preview"
ROUTE = "route-a"
NOW = datetime(2026, 11, 21, 9, tzinfo=UTC)

USAGE = {
    "promptTokenCount": 1204,
    "cachedContentTokenCount": 1024,
    "candidatesTokenCount": 96,
    "thoughtsTokenCount": 40,
    "totalTokenCount": 1340,
}

HIT = Verdict(VerdictReason.NAMED, None, cached=1024, prompt=1204)
"""What `close` writes down where a test gives no verdict."""

DECLARATIONS = [
    {
        "name": "check_flight",
        "description": "Gets the status of a flight",
        "parameters": {"type": "object", "properties": {}},
    }
]


def make_session(owner: User, **fields: Any) -> Session:
    return Session.objects.create(owner=owner, **{"title": "Flights", "model": MODEL, **fields})


def make_run(session: Session, text: str = "Is AA100 late?") -> Run:
    """A run with its trigger: a user task at the session's head."""
    run = Run.objects.create(session=session, client_id=uuid.uuid4(), status=Run.Status.RUNNING, now=NOW)
    trigger = user_task(str(uuid.uuid4()), text)
    run.trigger = Turn.append(session, trigger, parent=session.head, run=run)
    run.save(update_fields=["trigger"])
    return run


def make_exchange(
    run: Run, bodies: Sequence[bytes] | None = None, *, step: int = 1, route: str = ROUTE, **facts: Any
) -> Exchange:
    """One request for the run's session and its whole response; the reply becomes a turn.

    `facts` are columns of the exchange; `cache_name` also makes the payload name that cache.
    """
    turns, notes = prepare_signatures(
        [turn.value for turn in Turn.objects.branch(run.session.head_id)], route=route, required=True
    )
    payload = assemble(
        make_layers(turns, run.session),
        GenerationConfig(),
        model=MODEL,
        cached_content=facts.get("cache_name", ""),
    )
    stored = [note.stored() for note in notes]
    exchange = Exchange.objects.begin(run, step, payload, route=route, **{"notes": stored, **facts})
    receive(
        exchange, [text_chunk("It is on time.", finish="STOP", usage=USAGE)] if bodies is None else bodies
    )
    return exchange


def make_layers(turns: Sequence[TurnValue], session: Session) -> Layers:
    static = StaticSources(
        purpose=session.purpose, background=session.background, roles=(NamedText("Clerk", "Be brief."),)
    )
    panels = [Panel("todos", "Todos", [{"title": "Book a taxi", "done": False}], NOW)]
    return build_layers(static, panels, NOW, turns, DECLARATIONS)


def receive(exchange: Exchange, bodies: Sequence[bytes]) -> Turn | None:
    """Stores the chunks, closes the exchange and grows the model's turn."""
    _store(exchange, bodies)
    reply = fold(bodies, exchange.dialect)
    close(exchange, reply)
    if reply.wire is None:
        return None
    kind = TurnKind.FUNCTION_CALLING if reply.calls else TurnKind.MODEL_RESPONSE
    value = TurnValue(str(uuid.uuid4()), kind, reply.wire, exchange.route)
    session = exchange.run.session
    return Turn.append(
        session,
        value,
        parent=session.head,
        run=exchange.run,
        exchange=exchange,
        citations=reply.citations,
    )


def _store(exchange: Exchange, bodies: Sequence[bytes]) -> None:
    RawChunk.objects.bulk_create(
        RawChunk(exchange=exchange, seq=seq, ms=120.0 + 80 * seq, body=body)
        for seq, body in enumerate(bodies)
    )


def close(exchange: Exchange, reply: Reply) -> None:
    usage = reply.usage
    exchange.usage, exchange.outcome, exchange.finish_reason = (
        usage.raw,
        reply.outcome.value,
        reply.finish_reason[:40],
    )
    exchange.prompt_tokens, exchange.cached_tokens = usage.prompt, usage.cached
    exchange.output_tokens, exchange.thought_tokens = usage.output, usage.thoughts
    exchange.first_chunk_ms, exchange.total_ms, exchange.build_ms = 120.0, 480.0, 3.2
    exchange.served_model, exchange.provider = MODEL, "Gemini emulator"
    exchange.ended_at = timezone.now()
    exchange.verdict = exchange.verdict or "hit"
    if not exchange.earlier_wording:
        exchange.verdict_figures = exchange.verdict_figures or HIT.stored()
    exchange.save()


def stop_answer(session: Session, bodies: Sequence[bytes]) -> Run:
    """A run that a person stopped when these chunks had come."""
    run = make_run(session)
    exchange = make_exchange(run, [])
    Exchange.objects.filter(pk=exchange.pk).update(ended_at=None)
    _store(exchange, bodies)
    close_run(run.pk, Run.Status.STOPPED)
    return Run.objects.get(pk=run.pk)


def finish(run: Run) -> Run:
    run.end(Run.Status.COMPLETED)
    return run


def make_history(session: Session, count: int) -> list[Exchange]:
    """`count` questions, each answered with a signed text."""
    return [answered(session, f"Question {n}", f"Answer {n}") for n in range(count)]


def answered(session: Session, question: str, answer: str) -> Exchange:
    run = make_run(session, question)
    bodies = [text_chunk(answer), text_chunk("", signature=next(signatures), finish="STOP", usage=USAGE)]
    exchange = make_exchange(run, bodies)
    finish(run)
    return exchange


def play_flight(session: Session) -> tuple[Exchange, Exchange]:
    """One round of tools: a signed call, its answer, a text."""
    run = make_run(session)
    first = make_exchange(
        run, [call_chunk("check_flight", {"flight": "AA100"}, signature=next(signatures), finish="STOP")]
    )
    answer_calls(run, {"status": "delayed"})
    second = make_exchange(run, step=2)
    finish(run)
    return first, second


def answer_calls(run: Run, response: dict[str, Any]) -> Turn:
    """The tool response to the calls at the session's head."""
    head = run.session.head
    assert head is not None
    calls = fold([orjson.dumps({"candidates": [{"content": orjson.loads(head.wire)}]})]).calls
    value = tool_response(str(uuid.uuid4()), [CallResponse(call, response) for call in calls])
    return Turn.append(run.session, value, parent=head, run=run)


signatures = (bytes([18, n % 256, 251, 255]) * 30 for n in itertools.count())
"""Signature bytes, each one different, whose base64 has both `+` and `/`."""


def text_chunk(text: str, *, thought: bool = False, **rest: Any) -> bytes:
    return chunk({"text": text} | ({"thought": True} if thought else {}), **rest)


def call_chunk(name: str, args: dict[str, Any], **rest: Any) -> bytes:
    return chunk({"functionCall": {"name": name, "args": args}}, **rest)


def chunk(
    part: dict[str, Any],
    *,
    signature: bytes | None = None,
    finish: str = "",
    usage: dict[str, int] | None = None,
    beside: dict[str, Any] | None = None,
) -> bytes:
    """One streamed event with one part, as Google writes it; `beside` stands in the candidate."""
    if signature is not None:
        part = part | {"thoughtSignature": base64.b64encode(signature).decode()}
    candidate: dict[str, Any] = {"content": {"parts": [part], "role": "model"}} | (beside or {})
    event = {"candidates": [candidate | ({"finishReason": finish} if finish else {})]}
    return orjson.dumps(event | ({"usageMetadata": usage} if usage else {}) | {"modelVersion": MODEL})
