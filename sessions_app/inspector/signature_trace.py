"""Signature traces: where a signature was received, where it was sent back, and whether it stayed equal.

Equal means equal decoded bytes; the two base64 alphabets of the wire may differ.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from sessions_app.inspector.part_views import title_of
from sessions_app.models import Exchange, RawChunk, SentItem
from sessions_app.prompt import wire
from sessions_app.prompt.chunks import ChunkReader, StreamedChunk
from sessions_app.prompt.parts import may_be_signed, parts_of
from sessions_app.prompt.signatures import signatures_of
from sessions_app.wording.sources import part_name

SHOWN = 40
"""Newest traces of a request that a page shows at once; alarms are always shown."""

DROPPED_DUE = (
    "The program dropped it in exchange {number}, from a call of the current turn: the model needs it there, "
    "and newer ones refuse a request without it."
)
DROPPED_ALLOWED = (
    "The program dropped it in exchange {number}: allowed, since it is of no call of the current turn."
)

LISTED = 3
"""Exchanges that a trace names from each end of a long list."""


class SignatureState(StrEnum):
    """What became of a signature; the value is shown on the page.

    `DROPPED`: a captured program left it out where the provider allows that (seed 2): anywhere but on the
    calls of the current turn.
    """

    EQUAL = "equal"
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
        return self in (SignatureState.LOST, SignatureState.ALTERED)

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
    SignatureState.REFUSED,
    SignatureState.WITHHELD,
    SignatureState.FOREIGN,
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
        return SignatureState.NOT_DUE, "No later exchange continues this branch yet."
    count = sum(occurrence.state is SignatureState.EQUAL for occurrence in occurrences)
    explanation = f"Sent back byte for byte in {count} exchange{'' if count == 1 else 's'}."
    detached = next((one for one in occurrences if one.state is SignatureState.DETACHED), None)
    if detached is None:
        return SignatureState.EQUAL, explanation
    return SignatureState.DETACHED, f"{explanation} {detached.explanation}" if count else detached.explanation


def dropped(number: int, *, is_due: bool) -> tuple[SignatureState, str]:
    """Of a signature that a captured program did not send in that exchange; `is_due`: the model needs it."""
    if is_due:
        return SignatureState.LOST, DROPPED_DUE.format(number=number)
    return SignatureState.DROPPED, DROPPED_ALLOWED.format(number=number)


@dataclass(frozen=True, slots=True)
class SentSignature:
    """A signature of a content; `on` names the part that carries it."""

    part: int
    sha256: str
    size: int
    is_dummy: bool
    on: str
    is_call: bool = False


@dataclass(frozen=True, slots=True)
class ReceivedSignature:
    """A signature of a raw chunk, located by its part within the chunk."""

    location: SignatureLocation
    sha256: str
    size: int
    on: str
    is_call: bool = False
    """Whether a call carries it."""


def signatures_in(content: bytes) -> tuple[SentSignature, ...]:
    """The signatures of one content's wire JSON, in part order."""
    if not may_be_signed(content):
        return ()
    views = parts_of(content)
    titles = {view.index: title_of(view) for view in views}
    calls = {view.index for view in views if view.call is not None}
    return tuple(
        SentSignature(
            found.part,
            found.sha256,
            found.size,
            found.dummy,
            titles.get(found.part, ""),
            found.part in calls,
        )
        for found in signatures_of(content)
    )


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
            one.is_call,
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
