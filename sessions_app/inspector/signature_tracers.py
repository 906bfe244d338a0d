"""The tracer of the signatures that an exchange sent."""

from collections import defaultdict
from collections.abc import Container, Iterator, Mapping, Sequence
from functools import cached_property

from sessions_app.errors import SignatureRefused
from sessions_app.inspector.answer_hops import answers_of
from sessions_app.inspector.received_signatures import came_from, elsewhere
from sessions_app.inspector.session_records import is_task
from sessions_app.inspector.signature_matching import (
    MatchedSignatures,
    SentTo,
    is_in_place,
    is_regrouped,
    matched,
)
from sessions_app.inspector.signature_trace import (
    ReceivedSignature,
    SentSignature,
    SignatureLocation,
    SignatureState,
    SignatureTrace,
    placed,
    received_signatures,
    signatures_in,
    turn_key,
)
from sessions_app.inspector.stages import ShownRemark, notes_of
from sessions_app.models import Exchange, SentItem, Turn
from sessions_app.models.turn_numbers import turn_numbers
from sessions_app.prompt.layers import Layer
from sessions_app.prompt.remarks import IMPORTED, REFUSED
from sessions_app.prompt.signatures import signatures_of
from sessions_app.wording import remarks, signature_traces
from sessions_app.wording.sources import part_name, source_name


class SentSignatureTracer:
    """Traces the signatures of a request back to the chunks that brought them.

    Four queries, whatever the length of the history, one where an answer took several requests, and two where
    a program sent bytes that none of the answers in the request brought.
    """

    def __init__(self, exchange: Exchange) -> None:
        self._exchange = exchange

    def traces(self) -> list[SignatureTrace]:
        by_turn: dict[str, list[SentItem]] = defaultdict(list)
        for item in self._model_items:
            by_turn[item.source.name].append(item)
        return [trace for items in by_turn.values() for trace in self._of_turn(items)]

    def _of_turn(self, items: Sequence[SentItem]) -> Iterator[SignatureTrace]:
        """A captured program may have sent a turn in several contents."""
        first, name = items[0], items[0].source.name
        turn, number = self._turns.get(turn_key(first)), self._numbers.get(name, 0)
        received = placed(self._came_with(turn), turn.wire) if turn else ()
        matches = [matched(received, signatures_in(item.wire)) for item in items]
        for item, pairs in zip(items, matches, strict=True):
            for at in range(len(pairs.sent)):
                yield self._sent(pairs, at, number, turn, item)
        for one in matches[0].unsent:
            if all(one in pairs.unsent for pairs in matches):
                yield self._unsent(one, source_name(name, number), turn, first)

    def _came_with(self, turn: Turn) -> Sequence[ReceivedSignature]:
        """The signatures of the turn: `ELSEWHERE` where no exchange of the session produced it."""
        return self._received.get(turn.exchange.number, []) if turn.exchange else elsewhere(turn)

    def _sent(
        self, pairs: MatchedSignatures, at: int, number: int, turn: Turn | None, item: SentItem
    ) -> SignatureTrace:
        one, origin = pairs.sent[at], pairs.origin_of(at)
        if origin is not None and came_from(origin) is None:
            origin = self._of_another_turn(one) if self._exchange.is_captured else None
            state, explanation = self._otherwise(one, turn, origin)
        elif origin is None and (copied := pairs.copied_by(one)) is not None:
            origin = copied
            state, explanation = SignatureState.MOVED_FREELY, signature_traces.copied(self._exchange.number)
        elif origin is None or origin.sha256 != one.sha256:
            origin = self._of_another_turn(one)
            state, explanation = self._otherwise(one, turn, origin)
        else:
            state, explanation = self._same_bytes(origin, one, item)
        location = SignatureLocation(self._exchange.number, part_name(one.part, number))
        received = came_from(origin) if origin else None
        return SignatureTrace(one.sha256, one.size, one.on, state, explanation, received, (location,))

    def _same_bytes(
        self, origin: ReceivedSignature, one: SentSignature, item: SentItem
    ) -> tuple[SignatureState, str]:
        if not is_in_place(origin, one):
            return self._sent_to(item).moved(origin, one)
        said = signature_traces.SAME["bytes"]
        if self._exchange.error.get("kind") == SignatureRefused.__name__:
            return SignatureState.REFUSED, f"{said} {signature_traces.SAME['refused']}"
        return SignatureState.EQUAL, said

    def _of_another_turn(self, one: SentSignature) -> ReceivedSignature | None:
        """Which answer brought these bytes, first of those in this request; a stand-in comes with none."""
        if one.is_dummy:
            return None
        return _with_bytes_of(one, self._received) or _with_bytes_of(one, self._received_before)

    def _otherwise(
        self, one: SentSignature, turn: Turn | None, origin: ReceivedSignature | None
    ) -> tuple[SignatureState, str]:
        """The state of bytes that did not come with the turn, perhaps with another one (`origin`)."""
        if one.is_dummy:
            known = self._refusal_of(turn) or self._note_of(turn, IMPORTED)
            why = known.reason if known else ""
            return SignatureState.DUMMY, signature_traces.put_in(why, is_captured=self._exchange.is_captured)
        came_in = origin.location.exchange if origin else None
        if origin and self._exchange.is_captured and is_regrouped(origin, one):
            return SignatureState.MOVED_FREELY, signature_traces.regrouped(self._exchange.number)
        if turn is None or turn.exchange is None:
            if origin and _with_bytes_of(one, self._received):
                return SignatureState.MOVED_FREELY, signature_traces.copied(self._exchange.number)
            return SignatureState.UNTRACED, signature_traces.untraced(came_in)
        number = turn.exchange.number
        had_any = bool(self._received.get(number))
        return SignatureState.ALTERED, signature_traces.altered(number, had_any=had_any, came_in=came_in)

    def _sent_to(self, item: SentItem) -> SentTo:
        is_current = item.position > self._last_task
        return SentTo(self._exchange.number, self._exchange.route, self._exchange.is_captured, is_current)

    def _unsent(
        self, missing: ReceivedSignature, place: str, turn: Turn | None, item: SentItem
    ) -> SignatureTrace:
        reason = self._reasons.get(str(turn.public), "") if turn else ""
        foreign = turn is not None and turn.route != self._exchange.route
        state = SignatureState.WITHHELD if reason else SignatureState.LOST
        state = SignatureState.FOREIGN if foreign else state
        state = SignatureState.REFUSED if self._refusal_of(turn) else state
        explanation = reason or signature_traces.UNSENT
        if turn is not None and state is SignatureState.FOREIGN:
            explanation = remarks.foreign(self._exchange.number, turn.route, self._exchange.route)
        if self._exchange.is_captured and state is SignatureState.LOST:
            state, explanation = self._sent_to(item).dropped(missing)
        if turn is not None and turn.cut and missing.sha256 not in self._kept_by(turn):
            state, explanation = SignatureState.WITHHELD, signature_traces.CUT_OFF
        location = SignatureLocation(self._exchange.number, place)
        return SignatureTrace(
            missing.sha256, missing.size, missing.on, state, explanation, came_from(missing), (location,)
        )

    @staticmethod
    def _kept_by(turn: Turn) -> set[str]:
        return {one.sha256 for one in signatures_of(turn.wire)}

    def _refusal_of(self, turn: Turn | None) -> ShownRemark | None:
        """The remark that the provider has refused the turn's signatures."""
        return self._note_of(turn, REFUSED)

    def _note_of(self, turn: Turn | None, codes: Container[str]) -> ShownRemark | None:
        """The last remark of these codes on the turn."""
        notes = self._notes.get(str(turn.public), ()) if turn else ()
        return next((note for note in reversed(notes) if note.remark.code in codes), None)

    @cached_property
    def _notes(self) -> dict[str, list[ShownRemark]]:
        """The remarks of the exchange, by public id of the turn."""
        found: dict[str, list[ShownRemark]] = defaultdict(list)
        for note in notes_of(self._exchange):
            found[note.remark.turn].append(note)
        return found

    @cached_property
    def _items(self) -> list[SentItem]:
        return self._exchange.sent_items()

    @cached_property
    def _model_items(self) -> list[SentItem]:
        layers = (Layer.BUFFERED, Layer.TRIGGER)
        return [item for item in self._items if item.layer in layers and item.source.role == "model"]

    @cached_property
    def _last_task(self) -> int:
        """The position of the last text of the user; the current turn begins there."""
        tasks = (one.position for one in self._items if is_task(one.source.name, one.source.kind))
        return max(tasks, default=-1)

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return turn_numbers(self._exchange.session_id, (item.source.name for item in self._model_items))

    @cached_property
    def _turns(self) -> dict[str, Turn]:
        keys = [turn_key(item) for item in self._model_items]
        rows = Turn.objects.filter(session=self._exchange.session_id, public__in=[key for key in keys if key])
        fields = rows.select_related("exchange", "content").only(
            *("public", "route", "cut", "content"),
            *("exchange__number", "exchange__dialect", "exchange__continues"),
        )
        return {str(turn.public): turn for turn in fields}

    @cached_property
    def _reasons(self) -> dict[str, str]:
        """Public id of a turn → why its signatures were removed, as noted when the request was built."""
        notes = notes_of(self._exchange)
        return {note.remark.turn: note.reason for note in notes if note.remark.is_removal}

    @cached_property
    def _received_before(self) -> dict[int, list[ReceivedSignature]]:
        """What a program's session had received by then; nothing for our own requests, which move none."""
        if not self._exchange.is_captured:
            return {}
        before = Exchange.objects.filter(session=self._exchange.session_id, number__lt=self._exchange.number)
        return received_signatures(before.only("number", "dialect"))

    @cached_property
    def _received(self) -> dict[int, list[ReceivedSignature]]:
        """What the answers brought, by number of the exchange with which an answer ended."""
        ends = (turn.exchange for turn in self._turns.values() if turn.exchange)
        answers = answers_of(self._exchange.session_id, ends)
        received = received_signatures(one for hops in answers.values() for one in hops)
        return {
            number: [each for one in hops for each in received[one.number]]
            for number, hops in answers.items()
        }


def _with_bytes_of(
    one: SentSignature, answers: Mapping[int, Sequence[ReceivedSignature]]
) -> ReceivedSignature | None:
    """A received signature with the same bytes: the one on the same call, else the first."""
    alike = [each for answer in answers.values() for each in answer if each.sha256 == one.sha256]
    return next((each for each in alike if is_regrouped(each, one)), next(iter(alike), None))
