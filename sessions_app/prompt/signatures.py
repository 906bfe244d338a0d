"""Thought signatures: reading them, preparing turns for a route, and checking what will be sent.

Rules: seed 2, verified with recordings (gemini-wire §6). A signature is valid on its own route only. The
current turn is everything after the newest user text; there Gemini 3 and later require a signature on
the first call of every step. Older turns are not validated.
"""

import base64
import binascii
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from itertools import compress

from sessions_app.prompt import wire
from sessions_app.prompt.content_memory import Remembered, remembered
from sessions_app.prompt.parts import (
    PARTS_KEY,
    RawPart,
    call_of,
    is_thought,
    may_be_signed,
    parts_in,
    parts_of,
    raw_parts,
    signature_of,
    with_parts,
    with_signature,
    without_signature,
)
from sessions_app.prompt.remarks import Remark, RemarkCode
from sessions_app.prompt.turns import FILLER, IMPORTED, INSERTED, Turn, TurnKind

DUMMIES = (b"skip_thought_signature_validator", b"context_engineering_is_the_way_to_go")
"""The documented dummies (seed 2, FAQ 1); every route accepts the first."""

DUMMY = base64.b64encode(DUMMIES[0]).decode()

# The second dummy is valid base64 itself, so its plain spelling decodes to other bytes.
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
class SignatureLoss:
    """Why signatures are not sent: the remarks on one that is removed, on a part that goes with it, and on a
    call that gets the dummy."""

    removed: RemarkCode
    dropped: RemarkCode
    replaced: RemarkCode
    figures: Mapping[str, int] = field(default_factory=dict)


_FOREIGN = SignatureLoss(
    RemarkCode.SIGNATURE_REMOVED, RemarkCode.SIGNATURE_PART_DROPPED, RemarkCode.SIGNATURE_FOREIGN
)
_REFUSED = SignatureLoss(
    RemarkCode.SIGNATURE_REFUSED, RemarkCode.REFUSED_PART_DROPPED, RemarkCode.REFUSED_CALL
)
_IMPORTED = SignatureLoss(
    RemarkCode.IMPORTED_SIGNATURE, RemarkCode.IMPORTED_PART_DROPPED, RemarkCode.IMPORTED_CALL
)
_UNSIGNED = replace(_IMPORTED, replaced=RemarkCode.IMPORTED_UNSIGNED)


def signatures_of(wire_bytes: bytes) -> tuple[Signature, ...]:
    """The signatures of one content, in part order."""
    if not may_be_signed(wire_bytes):
        return ()
    views = parts_of(wire_bytes)
    return tuple(_signature(view.index, view.signature) for view in views if view.signature is not None)


def is_dummy(signature: bytes) -> bool:
    """Whether it is a documented dummy, which anybody may put in."""
    return signature in _DUMMY_BYTES


def unsigned(content: bytes) -> bytes | None:
    """What a content says without its thought signatures, and without parts that held nothing else.

    None for what is no content.
    """
    try:
        value = wire.loads(content)
    except ValueError:
        return None
    if not isinstance(value, dict) or PARTS_KEY not in value:
        return None
    bare = (without_signature(part) for part in parts_in(value))
    kept = [part for part in bare if _says_something(part)]
    return wire.canonical(value | {PARTS_KEY: kept})


def normalised(value: str) -> str | None:
    """The signature in standard base64, with the same bytes; None for what is not base64.

    Writers of proto JSON use the URL-safe alphabet. A dummy stays as it is spelled.
    """
    if value.encode(errors="replace") in DUMMIES:
        return value
    standard = value.translate(str.maketrans("-_", "+/")).rstrip("=")
    try:
        decoded = binascii.a2b_base64(standard + "=" * (-len(standard) % 4), strict_mode=True)
    except ValueError:
        return None
    return base64.b64encode(decoded).decode() or None


def current_turn_start(turns: Sequence[Turn]) -> int:
    """Index of the first turn after the newest user text, or 0: without one the dynamic layer is the user
    text (gemini-wire §6.7).
    """
    texts = (TurnKind.USER_TASK, TurnKind.COMPRESSED_HISTORY)
    return max((index + 1 for index, turn in enumerate(turns) if turn.kind in texts), default=0)


def prepare_signatures(
    turns: Sequence[Turn], *, route: str, required: bool
) -> tuple[tuple[Turn, ...], tuple[Remark, ...]]:
    """The turns for `route`, and a remark for each change.

    Signatures of other routes, and those that the provider refused, are removed. In the current turn the
    first call of a step without a signature gets the dummy, if the model requires signatures (`required`)
    or the provider has refused the step as it was. Other turns keep their bytes.
    """
    start = current_turn_start(turns)
    prepared: list[Turn] = []
    remarks: list[Remark] = []
    for index, turn in enumerate(turns):
        fit, made = turn, tuple[Remark, ...]()
        if turn.kind.is_model and index >= start and (required or turn.refused_in is not None):
            fit, made = _signed(turn, route)
        elif turn.kind.is_model and (turn.route != route or turn.refused_in is not None):
            fit, made = _bare((turn, route))
        prepared.append(fit)
        remarks += made
    return tuple(prepared), tuple(remarks)


def signed_turns(turns: Sequence[Turn]) -> tuple[str, ...]:
    """Keys of the turns that carry a signature of a model."""
    return tuple(turn.key for turn in turns if any(not found.dummy for found in signatures_of(turn.wire)))


def unsigned_steps(turns: Sequence[Turn]) -> tuple[str, ...]:
    """Keys of the steps of the current turn whose first call has no signature."""
    current = turns[current_turn_start(turns) :]
    return tuple(turn.key for turn in current if _unsigned_call(turn) is not None)


def check_signatures(turns: Sequence[Turn], *, required: bool) -> tuple[Remark, ...]:
    """Remarks on turns as they will be sent.

    `unsigned_call`: a current-turn step whose first call is unsigned although that is `required`.
    `dummy`: a dummy is sent. `unsigned_answer`: the newest model turn has thoughts and no signature (seed 1),
    although the model signs them: recorded answers without thoughts are unsigned, and nothing is lost by it.
    Models that do not demand signatures sign calls only (gemini-wire §6, 2).
    """
    start = current_turn_start(turns)
    findings = [
        Remark(code=RemarkCode.UNSIGNED_CALL, turn=turn.key, part=part)
        for turn in (turns[start:] if required else ())
        if (part := _unsigned_call(turn)) is not None
    ]
    # Cheaper than decoding every signature of a long history.
    spelled = _spells_dummy.of_all([turn.wire for turn in turns])
    for turn in compress(turns, spelled):
        findings += _dummies(turn)
    newest = next(
        (turn for turn in reversed(turns) if turn.kind.is_model and turn.wire not in INSERTED), None
    )
    if required and newest is not None and _has_thoughts(newest) and not signatures_of(newest.wire):
        findings.append(Remark(code=RemarkCode.UNSIGNED_ANSWER, turn=newest.key))
    return tuple(findings)


def _loss_of(turn: Turn, route: str) -> SignatureLoss | None:
    """Why the turn's signatures cannot be sent to this route; None when they can."""
    if turn.route != route:
        return _IMPORTED if turn.route == IMPORTED else _FOREIGN
    return None if turn.refused_in is None else replace(_REFUSED, figures={"exchange": turn.refused_in})


def _signed(turn: Turn, route: str) -> tuple[Turn, tuple[Remark, ...]]:
    """The turn whose first call has a signature that the route takes, and what was changed for it."""
    loss = _loss_of(turn, route)
    parts: list[RawPart | None] = [*raw_parts(turn.wire)]
    remarks = _removals(turn.key, _strip_signatures(parts), loss) if loss else []
    remarks += _with_dummy(turn.key, parts, _loss_of_call(loss, is_signed=bool(remarks)))
    return (replace(turn, wire=_rejoined(turn.wire, parts)), tuple(remarks)) if remarks else (turn, ())


def _without_signatures(given: tuple[Turn, str]) -> tuple[Turn, tuple[Remark, ...]]:
    """A turn whose signatures the route does not take, without them, and the remarks on them."""
    turn, route = given
    loss = _loss_of(turn, route)
    if loss is None or not may_be_signed(turn.wire):
        return turn, ()
    parts: list[RawPart | None] = [*raw_parts(turn.wire)]
    removed = _removals(turn.key, _strip_signatures(parts), loss)
    return (replace(turn, wire=_rejoined(turn.wire, parts)), tuple(removed)) if removed else (turn, ())


# A history of another route is the same in each request: turns and remarks of the last one are taken again.
_bare = Remembered(_without_signatures, lambda given: len(given[0].wire))


def _rejoined(content: bytes, parts: Sequence[RawPart | None]) -> bytes:
    kept = [part for part in parts if part is not None]
    # A turn without parts would be refused.
    return with_parts(content, kept) if kept else FILLER


def _loss_of_call(loss: SignatureLoss | None, *, is_signed: bool) -> SignatureLoss | None:
    """Why a call has no signature of its own; `is_signed`: whether the turn had any that were removed."""
    if loss is _IMPORTED and not is_signed:
        return _UNSIGNED
    return loss if is_signed or loss is _FOREIGN else None


def _signature(part: int, value: bytes) -> Signature:
    return Signature(part, len(value), sha256(value).hexdigest(), value in _DUMMY_BYTES)


def _strip_signatures(parts: list[RawPart | None]) -> list[tuple[int, bool]]:
    """Removes all signatures: the index of each part that had one, and whether the rest of it stays."""
    removed: list[tuple[int, bool]] = []
    for index, part in enumerate(parts):
        bare = part if part is None else without_signature(part)
        if bare is None or bare == part:
            continue
        # The provider refuses the empty part that a part with nothing but a signature would become.
        is_kept = _says_something(bare)
        parts[index] = bare if is_kept else None
        removed.append((index, is_kept))
    return removed


def _says_something(bare: RawPart) -> bool:
    """Whether a part without a signature holds anything beside being a thought."""
    return any(value for key, value in bare.items() if key != "thought")


def _removals(turn: str, removed: Iterable[tuple[int, bool]], loss: SignatureLoss) -> list[Remark]:
    return [
        Remark(code=loss.removed if is_kept else loss.dropped, turn=turn, part=index, **loss.figures)
        for index, is_kept in removed
    ]


def _with_dummy(turn: str, parts: list[RawPart | None], loss: SignatureLoss | None) -> list[Remark]:
    for index, part in enumerate(parts):
        if part is None or call_of(part) is None:
            continue
        if signature_of(part):
            return []
        parts[index] = with_signature(part, DUMMY)
        if loss is None:
            return [Remark(code=RemarkCode.SIGNATURE_LOST, turn=turn, part=index)]
        return [Remark(code=loss.replaced, turn=turn, part=index, **loss.figures)]
    return []


def _has_thoughts(turn: Turn) -> bool:
    return any(is_thought(part) for part in raw_parts(turn.wire))


def _unsigned_call(turn: Turn) -> int | None:
    if not turn.kind.is_model:
        return None
    for index, part in enumerate(raw_parts(turn.wire)):
        if call_of(part) is not None:
            return None if signature_of(part) else index
    return None


@remembered
def _spells_dummy(content: bytes) -> bool:
    return any(spelling in content for spelling in _SPELLINGS)


def _dummies(turn: Turn) -> list[Remark]:
    dummies = (found for found in signatures_of(turn.wire) if found.dummy)
    return [Remark(code=RemarkCode.STAND_IN_SENT, turn=turn.key, part=found.part) for found in dummies]
