"""The tracer of the signatures that a reply brought."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from sessions_app.inspector.answer_hops import answers_of, end_of
from sessions_app.inspector.manifest_sources import ManifestSources
from sessions_app.inspector.session_records import MODEL_KINDS, SessionRecords
from sessions_app.inspector.signature_matching import (
    MatchedSignatures,
    SentTo,
    is_in_place,
    is_regrouped,
    matched,
)
from sessions_app.inspector.signature_trace import (
    Occurrence,
    ReceivedSignature,
    SentSignature,
    SignatureLocation,
    SignatureState,
    SignatureTrace,
    placed,
    received_signatures,
    signatures_in,
    worst_state,
)
from sessions_app.models import Exchange, Turn
from sessions_app.wording import remarks, signature_traces
from sessions_app.wording.sources import part_name, source_name

CAME_BACK = frozenset({SignatureState.EQUAL, SignatureState.MOVED, SignatureState.MOVED_FREELY})

ELSEWHERE = 0
"""The number of an origin that is no exchange of the session."""


@dataclass(frozen=True, slots=True)
class SignatureOrigin:
    """Where signatures come from: a reply, its route, and its turn before the copies on rewritten branches.

    `number` is the exchange, or `ELSEWHERE` for a turn that was imported or copied from another session;
    `ended_in` the one with which the answer ended, which has the turn. `answer` are the signatures of all its
    hops.
    """

    number: int
    ended_in: int
    route: str
    turns: tuple[Turn, ...]
    answer: tuple[ReceivedSignature, ...]

    @classmethod
    def of(cls, exchange: Exchange) -> "SignatureOrigin":
        """Two queries; one more for each hop after it, and one where there are hops before."""
        end = end_of(exchange)
        rows = end.turns.filter(kind__in=MODEL_KINDS).select_related("content")
        turns = tuple(rows.order_by("origin_id", "pk"))
        received = received_signatures(answers_of(exchange.session_id, [end])[end.number]).values()
        answer = received_by(turns, (one for each in received for one in each))
        return cls(exchange.number, end.number, exchange.route, turns, answer)

    @property
    def signatures(self) -> tuple[ReceivedSignature, ...]:
        """Those that came with the exchange itself."""
        return tuple(one for one in self.answer if one.location.exchange == self.number)

    @property
    def turn(self) -> Turn | None:
        return first_turn(self.turns)

    @property
    def made_on(self) -> str:
        """The route of the signatures: that of the model which answered, as far as it is known."""
        return (self.turn.route if self.turn else "") or self.route

    @property
    def refused_in(self) -> int | None:
        """The exchange in which the provider refused the reply's signatures."""
        return next((turn.refused_in for turn in self.turns if turn.refused_in is not None), None)


def first_turn(turns: Sequence[Turn]) -> Turn | None:
    """The one of which the others are copies."""
    return next((turn for turn in turns if turn.origin_id is None), None)


def received_by(
    turns: Sequence[Turn], received: Iterable[ReceivedSignature]
) -> tuple[ReceivedSignature, ...]:
    """The signatures of a reply, as they are in its turn."""
    turn = first_turn(turns)
    return placed(received, turn.wire) if turn else tuple(received)


class ReceivedSignatureTracer:
    """Follows the signatures of one origin through the later exchanges of its branch."""

    def __init__(self, origin: SignatureOrigin, records: SessionRecords) -> None:
        """`records` has the contents of the origin's sources."""
        self._origin = origin
        self._records = records
        self._matches: dict[int, MatchedSignatures] = {}

    def trace(self, signature: ReceivedSignature) -> SignatureTrace:
        occurrences: list[Occurrence] = []
        not_kept = self._not_kept(signature)
        if not_kept is None:
            occurrences = [self._occurrence(later, signature) for later in self._later]
        state, explanation = not_kept or worst_state(occurrences)
        if self._origin.number == ELSEWHERE and state is SignatureState.EQUAL:
            state = SignatureState.UNTRACED
            explanation = signature_traces.from_elsewhere(explanation)
        return SignatureTrace(
            signature.sha256,
            signature.size,
            signature.on,
            state,
            explanation,
            came_from(signature),
            tuple(one.location for one in occurrences if one.state in CAME_BACK),
        )

    def _not_kept(self, signature: ReceivedSignature) -> tuple[SignatureState, str] | None:
        """Why no later request can carry it; None where one can."""
        turn = self._origin.turn
        if turn is None:
            return SignatureState.WITHHELD, signature_traces.NOT_KEPT["no_turn"]
        if signature.sha256 in self._kept:
            return None
        if turn.cut:
            return SignatureState.WITHHELD, signature_traces.CUT_OFF
        return SignatureState.LOST, signature_traces.NOT_KEPT["folded"]

    def _occurrence(self, later: ManifestSources, signature: ReceivedSignature) -> Occurrence:
        number = later.number
        source = self._source_in(later, signature)
        if source is None:
            found = self._in_cache(later, signature) or self._in_another_turn(later, signature)
            return found or self._without_turn(later)
        sent = self._matched(source).sent_for(signature)
        name, turn = self._records.names[source], self._number_of(source)
        if sent is not None and sent.sha256 == signature.sha256:
            location = SignatureLocation(number, part_name(sent.part, turn))
            if is_in_place(signature, sent):
                return Occurrence(location, SignatureState.EQUAL)
            return Occurrence(location, *self._sent_to(later, source).moved(signature, sent))
        location = SignatureLocation(number, source_name(name, turn))
        known = self._known_loss(later)
        return Occurrence(
            location, *(known or self._unknown_loss(self._sent_to(later, source), signature, sent))
        )

    def _source_in(self, later: ManifestSources, signature: ReceivedSignature) -> int | None:
        """The content of the turn; of several, the one that has the signature."""
        own = later.all_of(self._sources)
        having = (key for key in own if self._has(key, signature))
        return next(having, own[0]) if own else None

    def _has(self, source: int, signature: ReceivedSignature) -> bool:
        return any(one.sha256 == signature.sha256 for one in self._records.signatures_of(source))

    def _matched(self, source: int) -> MatchedSignatures:
        """The same source goes with many requests."""
        if source not in self._matches:
            carried = self._records.signatures_of(source)
            self._matches[source] = matched(self._origin.answer, carried)
        return self._matches[source]

    def _sent_to(self, later: ManifestSources, source: int) -> SentTo:
        is_current = self._records.is_current(later, source)
        return SentTo(later.number, later.route, self._records.is_captured, is_current)

    def _known_loss(self, later: ManifestSources) -> tuple[SignatureState, str] | None:
        """Why this request could not have it."""
        number, refused_in = later.number, self._origin.refused_in
        if self._origin.made_on != later.route:
            return SignatureState.FOREIGN, remarks.foreign(number, self._origin.made_on, later.route)
        if refused_in is not None and number > refused_in:
            explanation = f"The provider refused it in exchange {refused_in}; {number} went without it."
            return SignatureState.REFUSED, explanation
        return None

    def _unknown_loss(
        self, to: SentTo, signature: ReceivedSignature, sent: SentSignature | None
    ) -> tuple[SignatureState, str]:
        """`sent` is what stands in its place."""
        if sent is not None and sent.is_dummy:
            return SignatureState.DUMMY, signature_traces.stand_in(to.number, is_captured=to.is_captured)
        if sent is None and to.is_captured:
            return to.dropped(signature)
        state = SignatureState.ALTERED if sent else SignatureState.LOST
        what = "with other bytes in its place" if sent else "without it"
        who = f"The program sent the turn back in exchange {to.number}" if to.is_captured else ""
        return state, f"{who or f'Exchange {to.number} sent the turn back'} {what}."

    def _in_cache(self, later: ManifestSources, signature: ReceivedSignature) -> Occurrence | None:
        """The program put the turn into the cache that the request names; None where it did not."""
        for source in self._records.cached_contents(later):
            for one in self._records.signatures_of(source):
                if one.sha256 == signature.sha256 and is_in_place(signature, one):
                    place = f"{source_name(self._records.names[source])}, {part_name(one.part)}"
                    return Occurrence(SignatureLocation(later.number, place), SignatureState.EQUAL)
        return None

    def _in_another_turn(self, later: ManifestSources, signature: ReceivedSignature) -> Occurrence | None:
        """The program put the call into the content of another turn; None where it did not."""
        for name, turn, one in self._records.sent_signatures(later) if self._records.is_captured else ():
            if is_regrouped(signature, one):
                place = part_name(one.part, turn) if turn else source_name(name)
                said = signature_traces.regrouped(later.number)
                return Occurrence(SignatureLocation(later.number, place), SignatureState.MOVED_FREELY, said)
        return None

    def _without_turn(self, later: ManifestSources) -> Occurrence:
        """The turn is not among the contents: its text may have moved into the static layer."""
        location, number = SignatureLocation(later.number, ""), later.number
        if later.first_of(self._chunks) is not None:
            explanation = (
                f"Since exchange {number} its turn is text in a history chunk, which has no signatures."
            )
            return Occurrence(location, SignatureState.DETACHED, explanation)
        if self._records.is_captured:
            return Occurrence(location, SignatureState.DROPPED, signature_traces.left_out(number))
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
        """The later requests whose trigger descends from this turn, and those by which a program went on."""
        if self._origin.turn is None:
            return []
        below = self._records.below(self._origin.turns)
        after = self._records.continued_from(self._origin.ended_in)
        return [
            one
            for one, trigger in self._records.requests
            if one.number > self._origin.ended_in and (trigger in below or one.number in after)
        ]


def received_traces(exchange: Exchange) -> list[SignatureTrace]:
    """Seven queries, one more for a captured session, whatever its length."""
    origin = SignatureOrigin.of(exchange)
    records = SessionRecords(exchange.session_id, is_captured=exchange.is_captured, after=exchange.number)
    records.read_contents(records.sources_of(origin.turns))
    tracer = ReceivedSignatureTracer(origin, records)
    return [tracer.trace(one) for one in origin.signatures]


def came_from(signature: ReceivedSignature) -> SignatureLocation | None:
    """Where the session received it; None where it did not."""
    return None if signature.location.exchange == ELSEWHERE else signature.location


def elsewhere(turn: Turn) -> tuple[ReceivedSignature, ...]:
    """The signatures of a turn that no exchange of the session brought."""
    return tuple(
        ReceivedSignature(
            SignatureLocation(ELSEWHERE, f"part {one.part}"), one.sha256, one.size, one.on, one.call
        )
        for one in signatures_in(turn.wire)
    )
