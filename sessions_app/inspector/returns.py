"""What became of the signatures an exchange received: the exchanges after it, on the same branch."""

from functools import cached_property

from django.db.models import Q

from sessions_app.inspector.evidence import Received, carried_in, received_by
from sessions_app.inspector.origins import seen
from sessions_app.inspector.passports import LOOK_AHEAD, Fate, Passport, Sighting, State, judge
from sessions_app.models import Exchange, Source, Turn


class Returns:
    """Reads rows once (six queries, whatever the length of the session) and judges each signature."""

    def __init__(self, exchange: Exchange) -> None:
        self._exchange = exchange

    def passports(self) -> list[Passport]:
        received = received_by([self._exchange])[self._exchange.number]
        return [self._passport(signature) for signature in received]

    def _passport(self, signature: Received) -> Passport:
        state, words, returned = self._follow(signature)
        return Passport(
            signature.sha256, signature.size, signature.on, state, words, seen(signature), returned
        )

    def _follow(self, signature: Received) -> tuple[State, str, tuple[Sighting, ...]]:
        if self._turn is None:
            return (
                State.WITHHELD,
                "The reply was not kept as a turn, so there is nothing to send it back with.",
                (),
            )
        kept = {one.sha256 for one in carried_in(self._turn.wire)}
        if signature.sha256 not in kept and self._turn.cut:
            return State.WITHHELD, "The answer was cut off; half a call is not kept.", ()
        if signature.sha256 not in kept:
            return State.LOST, "The stored turn does not carry it: it was lost when the reply was folded.", ()
        fates = [self._fate(follower, signature) for follower in self._followers]
        returned = tuple(fate.sighting for fate in fates if fate.state is State.EQUAL)
        return *judge(fates), returned

    def _fate(self, follower: Exchange, signature: Received) -> Fate:
        entry = next((one for one in follower.stored_manifest.entries if one.source in self._sources), None)
        if entry is None:
            here = Sighting(follower.number, "")
            return Fate(
                here, State.LOST, f"Exchange {follower.number} continues the branch without this turn."
            )
        carried = carried_in(self._sources[entry.source].blob.bytes)
        return self._compare(
            follower, signature, f"contents[{entry.content}]", {one.sha256: one.part for one in carried}
        )

    def _compare(self, follower: Exchange, signature: Received, place: str, carried: dict[str, int]) -> Fate:
        number = follower.number
        if signature.sha256 in carried:
            return Fate(Sighting(number, f"{place}.parts[{carried[signature.sha256]}]"), State.EQUAL, "")
        if self._exchange.route != follower.route:
            words = f"Exchange {number} went to another route, which would refuse a foreign signature."
            return Fate(Sighting(number, place), State.WITHHELD, words)
        state = State.ALTERED if carried else State.LOST
        words = "with other bytes in its place" if carried else "without it"
        return Fate(Sighting(number, place), state, f"Exchange {number} sent the turn back {words}.")

    @cached_property
    def _turn(self) -> Turn | None:
        kinds = [kind for kind in Turn.Kind if kind.is_model]
        return self._exchange.turns.filter(kind__in=kinds).select_related("content").first()

    @cached_property
    def _sources(self) -> dict[int, Source]:
        """This turn as it was sent, in each form it was sent in (a repaired turn is another form)."""
        name = f"turn:{self._turn.public}" if self._turn else ""
        return (
            Source.objects.filter(session=self._exchange.session_id, name=name)
            .select_related("blob")
            .in_bulk()
        )

    @cached_property
    def _followers(self) -> list[Exchange]:
        """The next exchanges whose trigger grew from this turn."""
        later = self._later
        triggers = {one.pk: one.stored_manifest.entries[-1].source for one in later}
        names = dict(Source.objects.filter(pk__in=triggers.values()).values_list("pk", "name"))
        return [one for one in later if self._is_ancestor_of(names[triggers[one.pk]].removeprefix("turn:"))]

    @property
    def _later(self) -> list[Exchange]:
        number = self._exchange.number
        window = Q(number__gt=number, number__lte=number + LOOK_AHEAD)
        rows = Exchange.objects.filter(window, session=self._exchange.session_id).only(
            "number", "manifest", "route"
        )
        return [one for one in rows if one.stored_manifest.entries]

    def _is_ancestor_of(self, key: str) -> bool:
        turn = self._tree.get(key)
        while turn is not None and self._turn is not None:
            if turn == str(self._turn.public):
                return True
            turn = self._tree.get(turn)
        return False

    @cached_property
    def _tree(self) -> dict[str, str]:
        """Public id → parent's public id for the turns below this one, as deep as the followers can reach."""
        if self._turn is None:
            return {}
        depth = self._turn.depth
        rows = Turn.objects.filter(
            session=self._exchange.session_id,
            depth__gt=depth,
            depth__lte=depth + 4 * LOOK_AHEAD,
            parent__isnull=False,
        )
        return {str(public): str(parent) for public, parent in rows.values_list("public", "parent__public")}
