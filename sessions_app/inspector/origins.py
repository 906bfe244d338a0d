"""Where the signatures that an exchange sent had come from, and whether they are still the same bytes."""

from collections.abc import Iterator
from functools import cached_property

from sessions_app.inspector import texts
from sessions_app.inspector.evidence import Carried, Received, carried_in, received_by, turn_key
from sessions_app.inspector.notes import notes_of
from sessions_app.inspector.passports import Passport, Sighting, State
from sessions_app.models import Exchange, SentItem, Turn
from sessions_app.prompt.layers import Layer


class Origins:
    """Reads rows once (three queries, whatever the length of the history) and judges each signature."""

    def __init__(self, exchange: Exchange) -> None:
        self._exchange = exchange

    def passports(self) -> list[Passport]:
        return [passport for item in self._model_items for passport in self._of_item(item)]

    def _of_item(self, item: SentItem) -> Iterator[Passport]:
        turn = self._turns.get(turn_key(item))
        arrived = self._arrived(turn)
        carried = carried_in(item.wire)
        place = f"contents[{item.content}]"
        for one in carried:
            yield self._sent(one, place, turn, arrived)
        known = {one.sha256 for one in arrived}
        missing = [one for one in arrived if one.sha256 not in {sent.sha256 for sent in carried}]
        # A stand-in or an altered signature already speaks for one that is missing.
        for one_missing in missing[sum(one.sha256 not in known for one in carried) :]:
            yield self._unsent(one_missing, place, turn)

    def _sent(self, one: Carried, place: str, turn: Turn | None, arrived: list[Received]) -> Passport:
        origin = next((found for found in arrived if found.sha256 == one.sha256), None)
        state, words = self._judge(one, turn, origin, bool(arrived))
        here = Sighting(self._exchange.number, f"{place}.parts[{one.part}]")
        return Passport(one.sha256, one.size, one.on, state, words, seen(origin) if origin else None, (here,))

    def _judge(
        self, one: Carried, turn: Turn | None, origin: Received | None, has_arrived: bool
    ) -> tuple[State, str]:
        if origin is not None:
            return State.EQUAL, "The same bytes as received."
        if one.is_dummy:
            return (
                State.STAND_IN,
                "The documented stand-in: the call's own signature was lost or is another route's.",
            )
        if turn is None or turn.exchange is None:
            return State.UNTRACED, "No exchange of this session produced this turn."
        if has_arrived:
            return State.ALTERED, f"Exchange {turn.exchange.number} received other bytes."
        return State.ALTERED, f"Exchange {turn.exchange.number} received no signature."

    def _unsent(self, missing: Received, place: str, turn: Turn | None) -> Passport:
        reason = self._reasons.get(str(turn.public), "") if turn else ""
        foreign = turn is not None and turn.route != self._exchange.route
        state = State.WITHHELD if foreign or reason else State.LOST
        words = reason or (
            "Another route made this signature." if foreign else "Received, and not in this request."
        )
        here = Sighting(self._exchange.number, place)
        return Passport(missing.sha256, missing.size, missing.on, state, words, seen(missing), (here,))

    def _arrived(self, turn: Turn | None) -> list[Received]:
        if turn is None or turn.exchange is None:
            return []
        return self._received.get(turn.exchange.number, [])

    @cached_property
    def _model_items(self) -> list[SentItem]:
        contents = (
            item for item in self._exchange.sent_items() if item.layer in (Layer.BUFFERED, Layer.TRIGGER)
        )
        return [item for item in contents if item.source.role == "model"]

    @cached_property
    def _turns(self) -> dict[str, Turn]:
        keys = [turn_key(item) for item in self._model_items]
        rows = Turn.objects.filter(session=self._exchange.session_id, public__in=[key for key in keys if key])
        fields = rows.select_related("exchange").only("public", "route", "exchange__number")
        return {str(turn.public): turn for turn in fields}

    @cached_property
    def _reasons(self) -> dict[str, str]:
        """Turn key → why its signatures were taken out, as noted when the request was built."""
        return {note.turn: texts.visible(note.reason) for note in notes_of(self._exchange) if note.is_removal}

    @cached_property
    def _received(self) -> dict[int, list[Received]]:
        return received_by(turn.exchange for turn in self._turns.values() if turn.exchange is not None)


def seen(signature: Received) -> Sighting:
    return Sighting(signature.exchange, f"chunk {signature.seq}, part {signature.part}")
