"""The turn of a captured answer."""

import uuid

from sessions_app.gemini.routes import route_from
from sessions_app.models import Blob, Exchange, Turn
from sessions_app.models.blob import digest
from sessions_app.models.turn import searched_text
from sessions_app.prompt import wire
from sessions_app.prompt.outcomes import Outcome
from sessions_app.prompt.parts import content, parts_of
from sessions_app.prompt.provider_tools import KEPT_OF_CUT, whole_uses
from sessions_app.prompt.reply import Reply
from sessions_app.prompt.turns import TurnKind


def add_answer_turn(exchange: Exchange, reply: Reply, *, is_cut: bool) -> Turn | None:
    """The turn of the answer, below what the request ended with; None without text and calls."""
    found = _answer_content(reply, is_cut=is_cut)
    if found is None:
        return None
    kind, body = found
    above = last_turn(exchange)
    turn = Turn.objects.create(
        public=uuid.uuid4(),
        session=exchange.session,
        parent=above,
        depth=above.depth + 1 if above else 0,
        kind=kind.value,
        content_id=Blob.objects.store(exchange.session.owner_id, [body])[digest(body)],
        text=searched_text(kind, body),
        run=exchange.run,
        exchange=exchange,
        route=route_from(exchange.route, exchange.served_model),
        cut=is_cut or (kind is TurnKind.MODEL_RESPONSE and reply.outcome is not Outcome.COMPLETE),
        citations=reply.citations.stored() if reply.citations else {},
    )
    if (begun := begun_turn(exchange)) is not None and not begun.children.exists():
        begun.delete()
    return turn


def begun_turn(exchange: Exchange) -> Turn | None:
    """The beginning of the answer that the hop before left; None where there is no hop before."""
    if exchange.continues_id is None:
        return None
    return Turn.objects.filter(exchange=exchange.continues_id).first()


def _answer_content(reply: Reply, *, is_cut: bool) -> tuple[TurnKind, bytes] | None:
    if reply.wire is None:
        return None
    if reply.outcome is Outcome.CALLS and not is_cut:
        return TurnKind.FUNCTION_CALLING, reply.wire
    if reply.outcome.is_answer and not is_cut:
        return TurnKind.MODEL_RESPONSE, reply.wire
    if not reply.text:
        return None
    kept = [part.raw for part in whole_uses(parts_of(reply.wire)) if part.kind in KEPT_OF_CUT]
    return TurnKind.MODEL_RESPONSE, wire.dumps(content("model", kept))


def last_turn(exchange: Exchange) -> Turn | None:
    names = (item.source.name for item in reversed(exchange.sent_items()))
    key = next((name.removeprefix("turn:") for name in names if name.startswith("turn:")), None)
    return Turn.objects.filter(session=exchange.session_id, public=key).first() if key else None
