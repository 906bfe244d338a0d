"""The tracer of the signatures that a reply brought."""

from dataclasses import dataclass
from functools import cached_property

from sessions_app.inspector.manifest_sources import ManifestSources
from sessions_app.inspector.session_records import MODEL_KINDS, SessionRecords
from sessions_app.inspector.signature_trace import (
    Occurrence,
    ReceivedSignature,
    SignatureLocation,
    SignatureState,
    SignatureTrace,
    dropped,
    received_signatures,
    signatures_in,
    worst_state,
)
from sessions_app.models import Exchange, Turn
from sessions_app.wording import remarks
from sessions_app.wording.sources import part_name, source_name

ELSEWHERE = 0
"""The number of an origin that is no exchange of the session."""


@dataclass(frozen=True, slots=True)
class SignatureOrigin:
    """Where signatures come from: a reply, its route, and its turn before the copies on rewritten branches.

    `number` is the exchange, or `ELSEWHERE` for a turn that was imported or copied from another session.
    """

    number: int
    route: str
    turns: tuple[Turn, ...]

    @classmethod
    def of(cls, exchange: Exchange) -> "SignatureOrigin":
        """One query."""
        rows = exchange.turns.filter(kind__in=MODEL_KINDS).select_related("content")
        return cls(exchange.number, exchange.route, tuple(rows.order_by("origin_id", "pk")))

    @property
    def turn(self) -> Turn | None:
        return next((turn for turn in self.turns if turn.origin_id is None), None)

    @property
    def made_on(self) -> str:
        """The route of the signatures: that of the model which answered, as far as it is known."""
        return (self.turn.route if self.turn else "") or self.route

    @property
    def refused_in(self) -> int | None:
        """The exchange in which the provider refused the reply's signatures."""
        return next((turn.refused_in for turn in self.turns if turn.refused_in is not None), None)


class ReceivedSignatureTracer:
    """Follows the signatures of one origin through the later exchanges of its branch."""

    def __init__(self, origin: SignatureOrigin, records: SessionRecords) -> None:
        """`records` has the contents of the origin's sources."""
        self._origin = origin
        self._records = records

    def trace(self, signature: ReceivedSignature) -> SignatureTrace:
        occurrences: list[Occurrence] = []
        not_kept = self._not_kept(signature)
        if not_kept is None:
            occurrences = [self._occurrence(later, signature) for later in self._later]
        state, explanation = not_kept or worst_state(occurrences)
        if self._origin.number == ELSEWHERE and state is SignatureState.EQUAL:
            state = SignatureState.UNTRACED
            explanation = f"No exchange of this session received it. {explanation}"
        return SignatureTrace(
            signature.sha256,
            signature.size,
            signature.on,
            state,
            explanation,
            None if self._origin.number == ELSEWHERE else signature.location,
            tuple(one.location for one in occurrences if one.state is SignatureState.EQUAL),
        )

    def _not_kept(self, signature: ReceivedSignature) -> tuple[SignatureState, str] | None:
        """Why no later request can carry it; None where one can."""
        turn = self._origin.turn
        if turn is None:
            return (
                SignatureState.WITHHELD,
                "The reply was not kept as a turn, so there is nothing to send it back with.",
            )
        if signature.sha256 in self._kept:
            return None
        if turn.cut:
            return SignatureState.WITHHELD, "The answer was cut off; half a call is not kept."
        return (
            SignatureState.LOST,
            "The stored turn does not carry it: it was lost when the reply was folded.",
        )

    def _occurrence(self, later: ManifestSources, signature: ReceivedSignature) -> Occurrence:
        number = later.number
        source = later.first_of(self._sources)
        if source is None:
            return self._without_turn(later)
        carried = {one.sha256: one.part for one in self._records.signatures_of(source)}
        name, turn = self._records.names[source], self._number_of(source)
        if signature.sha256 in carried:
            location = SignatureLocation(number, part_name(carried[signature.sha256], turn))
            return Occurrence(location, SignatureState.EQUAL)
        location = SignatureLocation(number, source_name(name, turn))
        if self._origin.made_on != later.route:
            explanation = remarks.foreign(number, self._origin.made_on, later.route)
            return Occurrence(location, SignatureState.FOREIGN, explanation)
        refused_in = self._origin.refused_in
        if refused_in is not None and number > refused_in:
            explanation = f"The provider refused it in exchange {refused_in}; {number} went without it."
            return Occurrence(location, SignatureState.REFUSED, explanation)
        if self._records.is_captured and not carried:
            is_due = signature.is_call and self._records.is_current(later, source)
            return Occurrence(location, *dropped(number, is_due=is_due))
        state = SignatureState.ALTERED if carried else SignatureState.LOST
        what = "with other bytes in its place" if carried else "without it"
        who = f"The program sent the turn back in exchange {number}" if self._records.is_captured else ""
        return Occurrence(location, state, f"{who or f'Exchange {number} sent the turn back'} {what}.")

    def _without_turn(self, later: ManifestSources) -> Occurrence:
        """The turn is not among the contents: its text may have moved into the static layer."""
        location, number = SignatureLocation(later.number, ""), later.number
        if later.first_of(self._chunks) is not None:
            explanation = (
                f"Since exchange {number} its turn is text in a history chunk, which has no signatures."
            )
            return Occurrence(location, SignatureState.DETACHED, explanation)
        if self._records.is_captured:
            explanation = f"The program sent exchange {number} without this turn, which is allowed."
            return Occurrence(location, SignatureState.DROPPED, explanation)
        explanation = f"Exchange {number} continues the branch without this turn."
        return Occurrence(location, SignatureState.LOST, explanation)

    def _number_of(self, source: int) -> int:
        name = self._records.names[source]
        return next(turn.number for turn in self._origin.turns if f"turn:{turn.public}" == name)

    @cached_property
    def _kept(self) -> set[str]:
        turn = self._origin.turn
        return {one.sha256 for one in signatures_in(turn.wire)} if turn else set()

    @cached_property
    def _sources(self) -> set[int]:
        return self._records.sources_of(self._origin.turns)

    @cached_property
    def _chunks(self) -> set[int]:
        """The sources of the history chunks that end at this turn or after it."""
        return self._records.chunks_from(min((turn.depth for turn in self._origin.turns), default=0))

    @cached_property
    def _later(self) -> list[ManifestSources]:
        """The later requests whose trigger descends from this turn."""
        below = self._records.below(self._origin.turns) if self._origin.turn else set()
        if not below:
            return []
        return [
            one
            for one, trigger in self._records.requests
            if one.number > self._origin.number and trigger in below
        ]


def received_traces(exchange: Exchange) -> list[SignatureTrace]:
    """Seven queries, whatever the length of the session."""
    origin = SignatureOrigin.of(exchange)
    records = SessionRecords(exchange.session_id, after=exchange.number)
    records.read_contents(records.sources_of(origin.turns))
    tracer = ReceivedSignatureTracer(origin, records)
    return [tracer.trace(one) for one in received_signatures([exchange])[exchange.number]]


def elsewhere(turn: Turn) -> list[ReceivedSignature]:
    """The signatures of a turn that no exchange of the session brought."""
    return [
        ReceivedSignature(SignatureLocation(ELSEWHERE, f"part {one.part}"), one.sha256, one.size, one.on)
        for one in signatures_in(turn.wire)
    ]
