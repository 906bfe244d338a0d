"""Signature traces: where a signature was received, where it was sent back, and whether it stayed equal.

Equal means equal decoded bytes; the two base64 alphabets of the wire may differ.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from sessions_app.inspector.part_views import title_of
from sessions_app.models import Exchange, RawChunk, SentItem
from sessions_app.prompt import wire
from sessions_app.prompt.chunks import ChunkReader, StreamedChunk
from sessions_app.prompt.parts import PartView, may_be_signed, parts_of
from sessions_app.prompt.signatures import signatures_of
from sessions_app.wording import signature_traces
from sessions_app.wording.sources import part_name

SHOWN = 40
"""Newest traces of a request that a page shows at once; alarms are always shown."""

LISTED = 3
"""Exchanges that a trace names from each end of a long list."""


class SignatureState(StrEnum):
    """What became of a signature; the value is shown on the page.

    `DROPPED`: a captured program left it out where the provider allows that (seed 2): anywhere but on the
    calls of the current turn. `MOVED_FREELY`: it stands on another part where none is needed.
    """

    EQUAL = "equal"
    MOVED = "moved"
    MOVED_FREELY = "moved, not due"
    NOT_DUE = "not due yet"
    REFUSED = "refused"
    WITHHELD = "withheld"
    FOREIGN = "foreign"
    DETACHED = "detached"
    DROPPED = "dropped, allowed"
    LOST = "lost"
    ALTERED = "altered"
    DUMMY = "stand-in"
    UNTRACED = "not traced"

    @property
    def is_alarm(self) -> bool:
        return self in (SignatureState.LOST, SignatureState.ALTERED, SignatureState.MOVED)

    @property
    def tone(self) -> str:
        if self.is_alarm:
            return "bad"
        return {
            SignatureState.EQUAL: "good",
            SignatureState.DUMMY: "warn",
            SignatureState.REFUSED: "warn",
            SignatureState.WITHHELD: "warn",
            SignatureState.FOREIGN: "warn",
        }.get(self, "")


@dataclass(frozen=True, slots=True)
class SignatureLocation:
    """An exchange, and a place in its chunks or its request."""

    exchange: int
    place: str


@dataclass(frozen=True, slots=True)
class SignatureTrace:
    """`size` is decoded bytes; `received` is None when no exchange of this session received it."""

    sha256: str
    size: int
    on: str
    state: SignatureState
    explanation: str
    received: SignatureLocation | None = None
    returned: tuple[SignatureLocation, ...] = ()

    @property
    def first(self) -> tuple[SignatureLocation, ...]:
        """The first locations it was sent back in; all of a short list."""
        return self.returned if len(self.returned) <= 2 * LISTED + 1 else self.returned[:LISTED]

    @property
    def last(self) -> tuple[SignatureLocation, ...]:
        return () if self.first == self.returned else self.returned[-LISTED:]

    @property
    def between(self) -> int:
        """How many locations are not listed."""
        return len(self.returned) - len(self.first) - len(self.last)


@dataclass(frozen=True, slots=True)
class Occurrence:
    """What one later exchange did with a received signature."""

    location: SignatureLocation
    state: SignatureState
    explanation: str = ""


WORST = (
    SignatureState.ALTERED,
    SignatureState.LOST,
    SignatureState.MOVED,
    SignatureState.REFUSED,
    SignatureState.WITHHELD,
    SignatureState.FOREIGN,
    SignatureState.DUMMY,
    SignatureState.MOVED_FREELY,
    SignatureState.DROPPED,
)
"""States of an occurrence that decide about all of them, the first first."""


def worst_state(occurrences: list[Occurrence]) -> tuple[SignatureState, str]:
    """One state, with its explanation, for all the later exchanges of a branch."""
    for state in WORST:
        bad = next((occurrence for occurrence in occurrences if occurrence.state is state), None)
        if bad:
            return state, bad.explanation
    if not occurrences:
        return SignatureState.NOT_DUE, signature_traces.NOT_KEPT["nothing_later"]
    count = sum(occurrence.state is SignatureState.EQUAL for occurrence in occurrences)
    explanation = signature_traces.sent_back(count)
    detached = next((one for one in occurrences if one.state is SignatureState.DETACHED), None)
    if detached is None:
        return SignatureState.EQUAL, explanation
    return SignatureState.DETACHED, f"{explanation} {detached.explanation}" if count else detached.explanation


@dataclass(frozen=True, slots=True)
class SignedCall:
    """The call that carries a signature; `is_first` of the calls of its content."""

    call_id: str
    name: str
    arguments: Any
    is_first: bool

    @property
    def key(self) -> str:
        """Equal for equal calls: of an id, else of name and arguments."""
        return self.call_id or wire.canonical([self.name, self.arguments]).decode()

    def is_piece_of(self, whole: "SignedCall") -> bool:
        """Whether the whole call may have begun so: a piece may have no name, and no arguments yet."""
        return (
            self.call_id in ("", whole.call_id)
            and self.name in ("", whole.name)
            and (self.arguments == whole.arguments or self._is_begun_by(whole.arguments))
        )

    def _is_begun_by(self, arguments: Any) -> bool:
        both = isinstance(self.arguments, dict) and isinstance(arguments, dict)
        return both and self.arguments.items() <= arguments.items()

    def is_same(self, other: "SignedCall") -> bool:
        """Programs leave ids out or give their own; name and arguments are the same then."""
        if self.call_id and self.call_id == other.call_id:
            return True
        return (self.name, self.arguments) == (other.name, other.arguments)


@dataclass(frozen=True, slots=True)
class SentSignature:
    """A signature of a content; `on` names the part that carries it."""

    part: int
    sha256: str
    size: int
    is_dummy: bool
    on: str
    call: SignedCall | None = None


@dataclass(frozen=True, slots=True)
class ReceivedSignature:
    """A signature of a raw chunk, located by its part within the chunk."""

    location: SignatureLocation
    sha256: str
    size: int
    on: str
    call: SignedCall | None = None


def signatures_in(content: bytes) -> tuple[SentSignature, ...]:
    """The signatures of one content's wire JSON, in part order."""
    if not may_be_signed(content):
        return ()
    views = parts_of(content)
    titles = {view.index: title_of(view) for view in views}
    calls = [view for view in views if view.call is not None]
    signed = {view.index: _signed_call(view, is_first=view is calls[0]) for view in calls}
    return tuple(
        SentSignature(
            found.part,
            found.sha256,
            found.size,
            found.dummy,
            titles.get(found.part, ""),
            signed.get(found.part),
        )
        for found in signatures_of(content)
    )


def _signed_call(view: PartView, *, is_first: bool) -> SignedCall:
    found = view.call or {}
    name, call_id = str(found.get("name") or ""), str(found.get("id") or "")
    return SignedCall(call_id, name, found.get("args") or {}, is_first)


def placed(received: Iterable[ReceivedSignature], turn: bytes) -> tuple[ReceivedSignature, ...]:
    """The signatures with the calls of the whole answer, which a chunk has only a piece of.

    One that came on a call that the turn has it not on keeps the call that it came on.
    """
    calls = {one.sha256: one.call for one in signatures_in(turn)}
    return tuple(replace(one, call=_whole(one.call, calls.get(one.sha256))) for one in received)


def _whole(came: SignedCall | None, kept: SignedCall | None) -> SignedCall | None:
    return kept if came is not None and kept is not None and came.is_piece_of(kept) else came


def received_signatures(exchanges: Iterable[Exchange]) -> dict[int, list[ReceivedSignature]]:
    """Exchange number → the signatures of its raw chunks, in the order they arrived: one query."""
    by_key = {exchange.pk: exchange for exchange in exchanges}
    chunks = RawChunk.objects.filter(exchange__in=by_key).order_by("exchange_id", "seq")
    found: dict[int, list[ReceivedSignature]] = defaultdict(list)
    for pk, seq, body in chunks.values_list("exchange_id", "seq", "body"):
        if may_be_signed(body := bytes(body)):
            found[by_key[pk].number] += _in_chunk(by_key[pk], seq, body)
    return found


def _in_chunk(exchange: Exchange, seq: int, body: bytes) -> list[ReceivedSignature]:
    chunk = read_chunk(exchange, body)
    return [
        ReceivedSignature(
            SignatureLocation(exchange.number, f"chunk {seq}, {part_name(one.part)}"),
            one.sha256,
            one.size,
            one.on,
            one.call,
        )
        for one in (signatures_in(wire.dumps(chunk.content)) if chunk else ())
    ]


def read_chunk(exchange: Exchange, body: bytes) -> StreamedChunk | None:
    """A raw chunk of the exchange; None for bytes that are not a JSON object."""
    try:
        return ChunkReader(exchange.dialect).read(body)
    except ValueError:
        return None


def turn_key(item: SentItem) -> str:
    """The public id of the item's turn; empty for items that are not a turn."""
    kind, _, key = item.source.name.partition(":")
    return key if kind == "turn" else ""
