"""The server-sent events of an interaction: `event:` and `data:` lines, and `[DONE]` at the end.

Order: interaction.created, interaction.status_update, for each step step.start, step.delta and step.stop,
then interaction.completed. An event has an `event_id` where a stream can be resumed.
"""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime

import orjson

from sessions_app.emulator.api_errors import internal, overloaded
from sessions_app.emulator.framing import FAULT_POSITION, Pieces, StreamFault
from sessions_app.emulator.interactions_errors import InteractionError, as_interaction_error, refused
from sessions_app.emulator.interactions_store import StoredInteraction
from sessions_app.emulator.wire_model import JsonObject

DONE = b"event: done\ndata: [DONE]\n\n"


def created_events(interaction: StoredInteraction) -> Pieces:
    """The stream of an interaction as it is made. Only one in the background has event ids."""
    return _framed(
        list(_events(interaction, interaction.due)), interaction, has_ids=interaction.is_background
    )


def replayed_events(interaction: StoredInteraction, now: datetime, after: str) -> Pieces:
    """The stream of a stored interaction behind the event `after`, or whole. One that is under way is
    streamed to its end. Raises InteractionError (400) for an event that the stream does not have."""
    events = list(_events(interaction, max(now, interaction.due)))
    ids = [_event_id(interaction, position) for position in range(len(events))]
    if after and after not in ids:
        raise refused(f"Unknown event id '{after}'.")
    start = ids.index(after) + 1 if after else 0
    return _framed(events, interaction, has_ids=True)[start:]


def apply_fault(pieces: Pieces, fault: StreamFault) -> tuple[Pieces, StreamFault]:
    """An error in the stream is an `error` event; the other faults change bytes and stay to be applied."""
    if fault.framing == "failing":
        pieces = [*pieces[:FAULT_POSITION], _error_piece(as_interaction_error(internal()))]
    elif fault.framing == "first":
        pieces = [_error_piece(as_interaction_error(overloaded()))]
    else:
        return pieces, fault
    return [*pieces, DONE], replace(fault, framing="")


def _events(interaction: StoredInteraction, at: datetime) -> Iterator[JsonObject]:
    named = {"id": interaction.name, "status": "in_progress"}
    kind = {"object": "interaction", "model": interaction.model}
    yield {"interaction": named | kind, "event_type": "interaction.created"}
    yield {
        "interaction_id": interaction.name,
        "status": "in_progress",
        "event_type": "interaction.status_update",
    }
    answer = interaction.answer
    for index, run in enumerate(answer.runs if interaction.has_answer(at) else ()):
        yield {"index": index, "step": run.start, "event_type": "step.start"}
        for delta in run.deltas:
            yield {"index": index, "delta": delta, "event_type": "step.delta"}
        yield {"index": index, "event_type": "step.stop"}
    if answer.failure and interaction.has_answer(at):
        yield _error_event(answer.failure)
    if answer.is_whole or interaction.cancelled:
        yield {"interaction": interaction.summary(at), "event_type": "interaction.completed"}


def _framed(events: list[JsonObject], interaction: StoredInteraction, *, has_ids: bool) -> Pieces:
    pieces = []
    for position, event in enumerate(events):
        named = {"event_id": _event_id(interaction, position)} if has_ids else {}
        pieces.append(_piece(event | named))
    is_whole = interaction.answer.is_whole or interaction.cancelled
    return [*pieces, DONE] if is_whole else pieces


def _event_id(interaction: StoredInteraction, position: int) -> str:
    return f"{interaction.name[-8:]}_{position}"


def _piece(event: JsonObject) -> bytes:
    name: str = event["event_type"]
    return b"event: " + name.encode() + b"\ndata: " + orjson.dumps(event) + b"\n\n"


def _error_event(error: InteractionError) -> JsonObject:
    return {"error": error.description(), "event_type": "error"}


def _error_piece(error: InteractionError) -> bytes:
    return _piece(_error_event(error))
