"""Tracers of the signatures that an exchange sent and of those it received."""

import re
from collections import defaultdict
from collections.abc import Container, Iterator
from dataclasses import dataclass
from functools import cached_property

from django.db.models import QuerySet, TextField
from django.db.models.functions import Cast

from sessions_app.errors import SignatureRefused
from sessions_app.inspector.signature_trace import (
    Occurrence,
    ReceivedSignature,
    SentSignature,
    SignatureLocation,
    SignatureState,
    SignatureTrace,
    received_signatures,
    signatures_in,
    turn_key,
    worst_state,
)
from sessions_app.inspector.stages import ShownRemark, notes_of
from sessions_app.models import Exchange, HistoryChunk, SentItem, Source, Turn
from sessions_app.models.turn_numbers import turn_numbers
from sessions_app.prompt.layers import Layer
from sessions_app.prompt.remarks import IMPORTED, REFUSED
from sessions_app.wording.sources import part_name, source_name

_SOURCE = re.compile(r'\[(\d+), ?"')


# No slots: the cached property needs the instance dictionary.
@dataclass(frozen=True)
class ManifestSources:
    """The sources of one request, read from the text of its manifest, which is faster than parsing it."""

    pk: int
    number: int
    route: str
    manifest: str

    @cached_property
    def sources(self) -> tuple[int, ...]:
        """Primary keys of the sources in the order of the items."""
        return tuple(map(int, _SOURCE.findall(self.manifest)))


def manifest_sources(exchanges: QuerySet[Exchange]) -> Iterator[ManifestSources]:
    """One query, by number."""
    rows = exchanges.order_by("number").annotate(text=Cast("manifest", TextField()))
    for row in rows.values_list("pk", "number", "route", "text"):
        yield ManifestSources(*row)


class SentSignatureTracer:
    """Traces the signatures of a request back to the chunks that brought them.

    Four queries, whatever the length of the history.
    """

    def __init__(self, exchange: Exchange) -> None:
        self._exchange = exchange

    def traces(self) -> list[SignatureTrace]:
        return [trace for item in self._model_items for trace in self._of_item(item)]

    def _of_item(self, item: SentItem) -> Iterator[SignatureTrace]:
        turn = self._turns.get(turn_key(item))
        produced_by = turn.exchange if turn else None
        received = self._received.get(produced_by.number, []) if produced_by else []
        sent = signatures_in(item.wire)
        number = self._numbers.get(item.source.name, 0)
        for one in sent:
            yield self._sent(one, number, turn, received)
        known = {one.sha256 for one in received}
        missing = [one for one in received if one.sha256 not in {other.sha256 for other in sent}]
        # Each dummy or altered signature was reported already, in place of one that is missing.
        for one_missing in missing[sum(one.sha256 not in known for one in sent) :]:
            yield self._unsent(one_missing, source_name(item.source.name, number), turn)

    def _sent(
        self, one: SentSignature, number: int, turn: Turn | None, received: list[ReceivedSignature]
    ) -> SignatureTrace:
        origin = next((found for found in received if found.sha256 == one.sha256), None)
        location = SignatureLocation(self._exchange.number, part_name(one.part, number))
        if origin is not None and self._exchange.error.get("kind") == SignatureRefused.__name__:
            state = SignatureState.REFUSED
            explanation = "The same bytes as received. The provider refused the signatures of this request."
        elif origin is not None:
            state, explanation = SignatureState.EQUAL, "The same bytes as received."
        elif one.is_dummy:
            state = SignatureState.DUMMY
            known = self._refusal_of(turn) or self._note_of(turn, IMPORTED)
            why = known.reason if known else "The call's own signature was lost or is another route's."
            explanation = f"The documented stand-in. {why}"
        elif turn is None or turn.exchange is None:
            state, explanation = SignatureState.UNTRACED, "No exchange of this session produced this turn."
        else:
            state = SignatureState.ALTERED
            what = "other bytes" if received else "no signature"
            explanation = f"Exchange {turn.exchange.number} received {what}."
        came_from = origin.location if origin else None
        return SignatureTrace(one.sha256, one.size, one.on, state, explanation, came_from, (location,))

    def _unsent(self, missing: ReceivedSignature, place: str, turn: Turn | None) -> SignatureTrace:
        reason = self._reasons.get(str(turn.public), "") if turn else ""
        foreign = turn is not None and turn.route != self._exchange.route
        state = SignatureState.WITHHELD if foreign or reason else SignatureState.LOST
        state = SignatureState.REFUSED if self._refusal_of(turn) else state
        explanation = reason or (
            "Another route made this signature." if foreign else "Received, and not in this request."
        )
        location = SignatureLocation(self._exchange.number, place)
        return SignatureTrace(
            missing.sha256, missing.size, missing.on, state, explanation, missing.location, (location,)
        )

    def _refusal_of(self, turn: Turn | None) -> ShownRemark | None:
        """The remark that the provider has refused the turn's signatures."""
        return self._note_of(turn, REFUSED)

    def _note_of(self, turn: Turn | None, codes: Container[str]) -> ShownRemark | None:
        """The last remark of these codes on the turn."""
        notes = self._notes.get(str(turn.public), ()) if turn else ()
        return next((note for note in reversed(notes) if note.remark.code in codes), None)

    @cached_property
    def _notes(self) -> dict[str, list[ShownRemark]]:
        """By public id of the turn."""
        found: dict[str, list[ShownRemark]] = defaultdict(list)
        for note in notes_of(self._exchange):
            found[note.remark.turn].append(note)
        return found

    @cached_property
    def _model_items(self) -> list[SentItem]:
        layers = (Layer.BUFFERED, Layer.TRIGGER)
        items = self._exchange.sent_items()
        return [item for item in items if item.layer in layers and item.source.role == "model"]

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return turn_numbers(self._exchange.session_id, (item.source.name for item in self._model_items))

    @cached_property
    def _turns(self) -> dict[str, Turn]:
        keys = [turn_key(item) for item in self._model_items]
        rows = Turn.objects.filter(session=self._exchange.session_id, public__in=[key for key in keys if key])
        fields = rows.select_related("exchange").only(
            "public", "route", "exchange__number", "exchange__dialect"
        )
        return {str(turn.public): turn for turn in fields}

    @cached_property
    def _reasons(self) -> dict[str, str]:
        """Public id of a turn → why its signatures were removed, as noted when the request was built."""
        notes = notes_of(self._exchange)
        return {note.remark.turn: note.reason for note in notes if note.remark.is_removal}

    @cached_property
    def _received(self) -> dict[int, list[ReceivedSignature]]:
        return received_signatures(turn.exchange for turn in self._turns.values() if turn.exchange)


class ReceivedSignatureTracer:
    """Follows the signatures of a reply through the later exchanges of its branch.

    Seven queries, whatever the length of the session.
    """

    def __init__(self, exchange: Exchange) -> None:
        self._exchange = exchange

    def traces(self) -> list[SignatureTrace]:
        received = received_signatures([self._exchange])[self._exchange.number]
        return [self._trace(signature) for signature in received]

    def _trace(self, signature: ReceivedSignature) -> SignatureTrace:
        returned: tuple[SignatureLocation, ...] = ()
        kept = {one.sha256 for one in signatures_in(self._turn.wire)} if self._turn else set()
        if self._turn is None:
            state = SignatureState.WITHHELD
            explanation = "The reply was not kept as a turn, so there is nothing to send it back with."
        elif signature.sha256 not in kept and self._turn.cut:
            state = SignatureState.WITHHELD
            explanation = "The answer was cut off; half a call is not kept."
        elif signature.sha256 not in kept:
            state = SignatureState.LOST
            explanation = "The stored turn does not carry it: it was lost when the reply was folded."
        else:
            occurrences = [self._occurrence(later, signature) for later in self._later_exchanges]
            state, explanation = worst_state(occurrences)
            returned = tuple(one.location for one in occurrences if one.state is SignatureState.EQUAL)
        return SignatureTrace(
            signature.sha256,
            signature.size,
            signature.on,
            state,
            explanation,
            signature.location,
            returned,
        )

    def _occurrence(self, later: ManifestSources, signature: ReceivedSignature) -> Occurrence:
        number = later.number
        source = next((key for key in later.sources if key in self._sources), None)
        if source is None:
            return self._without_turn(later)
        carried = {one.sha256: one.part for one in signatures_in(self._sources[source].blob.bytes)}
        name = self._sources[source].name
        turn = next(one.number for one in self._turns if f"turn:{one.public}" == name)
        if signature.sha256 in carried:
            location = SignatureLocation(number, part_name(carried[signature.sha256], turn))
            return Occurrence(location, SignatureState.EQUAL)
        location = SignatureLocation(number, source_name(name, turn))
        if self._exchange.route != later.route:
            explanation = f"Exchange {number} went to another route, which would refuse a foreign signature."
            return Occurrence(location, SignatureState.WITHHELD, explanation)
        if self._refused_in is not None and number > self._refused_in:
            explanation = f"The provider refused it in exchange {self._refused_in}; {number} went without it."
            return Occurrence(location, SignatureState.REFUSED, explanation)
        state = SignatureState.ALTERED if carried else SignatureState.LOST
        what = "with other bytes in its place" if carried else "without it"
        return Occurrence(location, state, f"Exchange {number} sent the turn back {what}.")

    def _without_turn(self, later: ManifestSources) -> Occurrence:
        """The turn is not among the contents: its text may have moved into the static layer."""
        location, number = SignatureLocation(later.number, ""), later.number
        if not self._chunks.isdisjoint(later.sources):
            explanation = (
                f"Since exchange {number} its turn is text in a history chunk, which has no signatures."
            )
            return Occurrence(location, SignatureState.DETACHED, explanation)
        explanation = f"Exchange {number} continues the branch without this turn."
        return Occurrence(location, SignatureState.LOST, explanation)

    @cached_property
    def _turns(self) -> list[Turn]:
        """The reply's turn, then its copies on rewritten branches."""
        kinds = [kind for kind in Turn.Kind if kind.is_model]
        return list(
            self._exchange.turns.filter(kind__in=kinds).select_related("content").order_by("origin_id", "pk")
        )

    @cached_property
    def _refused_in(self) -> int | None:
        """The exchange in which the provider refused the reply's signatures."""
        return next((turn.refused_in for turn in self._turns if turn.refused_in is not None), None)

    @property
    def _turn(self) -> Turn | None:
        return next((turn for turn in self._turns if turn.origin_id is None), None)

    @cached_property
    def _sources(self) -> dict[int, Source]:
        """Every source of this turn; a repaired turn is a source of its own."""
        names = [f"turn:{turn.public}" for turn in self._turns]
        return (
            Source.objects.filter(session=self._exchange.session_id, name__in=names)
            .select_related("blob")
            .in_bulk()
        )

    @cached_property
    def _names(self) -> dict[int, str]:
        """Primary key → name of every source of the session."""
        return dict(Source.objects.filter(session=self._exchange.session_id).values_list("pk", "name"))

    @cached_property
    def _chunks(self) -> set[int]:
        """Primary keys of the history chunks that end at this turn or after it."""
        depth = min((turn.depth for turn in self._turns), default=0)
        late = HistoryChunk.objects.filter(session=self._exchange.session_id, last_turn__depth__gte=depth)
        names = {f"chunk:{pk}" for pk in late.values_list("pk", flat=True)}
        return {key for key, name in self._names.items() if name in names}

    @cached_property
    def _later_exchanges(self) -> list[ManifestSources]:
        """The later requests whose trigger descends from this turn."""
        exchange, below = self._exchange, self._descendants
        later = Exchange.objects.filter(session=exchange.session_id, number__gt=exchange.number)
        found = [one for one in manifest_sources(later) if one.sources] if below else []
        return [one for one in found if self._names[one.sources[-1]].removeprefix("turn:") in below]

    @cached_property
    def _descendants(self) -> set[str]:
        """Public ids of the turns that descend from this one or from a copy of it."""
        if self._turn is None:
            return set()
        ours = {turn.pk: str(turn.public) for turn in self._turns}
        shallowest = min(turn.depth for turn in self._turns)
        rows = Turn.objects.filter(session=self._exchange.session_id, depth__gt=shallowest)
        below = dict(ours)
        for pk, public, parent in rows.order_by("depth").values_list("pk", "public", "parent_id"):
            if parent in below:
                below[pk] = str(public)
        return set(below.values()) - set(ours.values())
