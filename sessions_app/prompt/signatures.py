"""Thought signatures: what each content carries, and what is done when one cannot be sent.

The rules are seed 2's, checked against recordings (gemini-wire §6). A signature belongs to the
route that made it. The current turn is everything after the newest user text; there the first
call of every step must be signed on Gemini 3 and later. Older turns are not validated.
"""

import base64
from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

from sessions_app.prompt import wire
from sessions_app.prompt.calls import call_of
from sessions_app.prompt.turns import FILLER, Turn, TurnKind, parts_of, raw_parts

DUMMIES = (b"skip_thought_signature_validator", b"context_engineering_is_the_way_to_go")
"""The documented stand-ins (seed 2, FAQ 1); the first is the one that every route accepts."""

DUMMY = base64.b64encode(DUMMIES[0]).decode()

_KEYS = ("thoughtSignature", "thought_signature")
# The second dummy is itself valid base64, so the bare spelling decodes to other bytes.
_DUMMY_BYTES = {*DUMMIES, *(base64.urlsafe_b64decode(dummy + b"=" * (-len(dummy) % 4)) for dummy in DUMMIES)}
_SPELLINGS = (*DUMMIES, *(base64.b64encode(dummy).rstrip(b"=") for dummy in DUMMIES))


@dataclass(frozen=True, slots=True)
class Signature:
    """One signature of a content: its part, decoded size in bytes, sha256 hex, and whether it is a dummy."""

    part: int
    size: int
    sha256: str
    dummy: bool


@dataclass(frozen=True, slots=True)
class Note:
    """What was done to a turn or a part before sending, and why; `part` is None for a whole turn.

    `action` is `removed`, `dropped` or `dummy` for a signature (`dress`), and `answered`, `removed`,
    `dropped`, `reordered` or `filled` for the history (`repair`).
    """

    turn: str
    part: int | None
    action: str
    reason: str


@dataclass(frozen=True, slots=True)
class Finding:
    """Something about a signature that a reader should know; `part` is None for a whole turn."""

    turn: str
    part: int | None
    code: str
    words: str


def signatures_of(wire_bytes: bytes) -> tuple[Signature, ...]:
    """The signatures of one content, in part order."""
    if not _may_be_signed(wire_bytes):
        return ()
    views = parts_of(wire_bytes)
    return tuple(_signature(view.index, view.signature) for view in views if view.signature is not None)


def current_turn_start(turns: Sequence[Turn]) -> int:
    """Index of the first turn after the newest user text.

    Without any user text this is 0: the dynamic layer is the user text then (gemini-wire §6.7).
    """
    texts = (TurnKind.USER_TASK, TurnKind.COMPRESSED_HISTORY)
    return max((index + 1 for index, turn in enumerate(turns) if turn.kind in texts), default=0)


def dress(turns: Sequence[Turn], *, route: str, required: bool) -> tuple[tuple[Turn, ...], tuple[Note, ...]]:
    """Make the turns fit to be sent to `route`.

    Another route's signatures are removed. In the current turn the first call of a step that then
    has none gets the dummy, if the model demands signatures (`required`). A turn that needs
    nothing keeps its bytes.
    """
    start = current_turn_start(turns)
    dressed: list[Turn] = []
    notes: list[Note] = []
    for index, turn in enumerate(turns):
        fit, made = _dress(turn, foreign=turn.route != route, demanded=required and index >= start)
        dressed.append(fit)
        notes += made
    return tuple(dressed), tuple(notes)


def check(turns: Sequence[Turn], *, required: bool) -> tuple[Finding, ...]:
    """Look at turns as they will be sent.

    `unsigned_call`: a current-turn step whose first call is unsigned although the model demands it.
    `dummy`: a stand-in is sent. `unsigned_answer`: the newest model turn carries no signature (seed 1).
    """
    start = current_turn_start(turns)
    findings = [
        Finding(turn.key, part, "unsigned_call", "The first call of this step has no signature.")
        for turn in (turns[start:] if required else ())
        if (part := _unsigned_call(turn)) is not None
    ]
    for turn in turns:
        findings += _dummies(turn)
    newest = next((turn for turn in reversed(turns) if turn.kind.is_model and turn.wire != FILLER), None)
    if newest is not None and not signatures_of(newest.wire):
        words = "The newest model turn carries no signature, so the model cannot take up its thoughts."
        findings.append(Finding(newest.key, None, "unsigned_answer", words))
    return tuple(findings)


def _dress(turn: Turn, *, foreign: bool, demanded: bool) -> tuple[Turn, list[Note]]:
    if not turn.kind.is_model or not (demanded or (foreign and _may_be_signed(turn.wire))):
        return turn, []
    parts: list[dict[str, Any] | None] = [*raw_parts(turn.wire)]
    notes = _strip(turn.key, parts) if foreign else []
    if demanded:
        notes += _stand_in(turn.key, parts, foreign)
    if not notes:
        return turn, []
    content = wire.loads(turn.wire) | {"parts": [part for part in parts if part is not None]}
    return replace(turn, wire=wire.dumps(content)), notes


def _signature(part: int, value: bytes) -> Signature:
    return Signature(part, len(value), sha256(value).hexdigest(), value in _DUMMY_BYTES)


def _strip(turn: str, parts: list[dict[str, Any] | None]) -> list[Note]:
    notes: list[Note] = []
    for index, part in enumerate(parts):
        if part is None or not any(key in part for key in _KEYS):
            continue
        bare = {key: value for key, value in part.items() if key not in _KEYS}
        # A part that only carried the signature would be an empty part, which the provider refuses.
        kept = bare if any(value for key, value in bare.items() if key != "thought") else None
        parts[index] = kept
        left = "" if kept else " The part held nothing else."
        action = "removed" if kept else "dropped"
        notes.append(Note(turn, index, action, f"Another route made this signature.{left}"))
    return notes


def _stand_in(turn: str, parts: list[dict[str, Any] | None], foreign: bool) -> list[Note]:
    for index, part in enumerate(parts):
        if part is None or call_of(part) is None:
            continue
        if _signed(part):
            return []
        parts[index] = {**part, "thoughtSignature": DUMMY}
        why = "belongs to another route" if foreign else "is lost"
        return [Note(turn, index, "dummy", f"The signature of this call {why}; the model demands one here.")]
    return []


def _unsigned_call(turn: Turn) -> int | None:
    if not turn.kind.is_model:
        return None
    for index, part in enumerate(raw_parts(turn.wire)):
        if call_of(part) is not None:
            return None if _signed(part) else index
    return None


def _dummies(turn: Turn) -> list[Finding]:
    # Looking for the few spellings is cheaper than decoding every signature of a long history.
    if not any(spelling in turn.wire for spelling in _SPELLINGS):
        return []
    words = "A stand-in is sent instead of the model's own signature."
    dummies = (found for found in signatures_of(turn.wire) if found.dummy)
    return [Finding(turn.key, found.part, "dummy", words) for found in dummies]


def _signed(part: dict[str, Any]) -> bool:
    return any(part.get(key) for key in _KEYS)


def _may_be_signed(wire_bytes: bytes) -> bool:
    return any(key.encode() in wire_bytes for key in _KEYS)
