"""What became of the signatures an exchange received: the exchanges after it, on the same branch."""

from functools import cached_property

from sessions_app.inspector.evidence import Received, carried_in, received_by
from sessions_app.inspector.manifests import Carrier, carriers
from sessions_app.inspector.origins import seen
from sessions_app.inspector.passports import Fate, Passport, Sighting, State, judge
from sessions_app.models import Exchange, HistoryChunk, Source, Turn


class Returns:
    """Reads rows once (seven queries, whatever the length of the session) and judges each signature."""

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

    def _fate(self, follower: Carrier, signature: Received) -> Fate:
        number = follower.number
        source = next((key for key in follower.sources if key in self._sources), None)
        if source is None:
            return self._absent(follower)
        carried = {one.sha256: one.part for one in carried_in(self._sources[source].blob.bytes)}
        place = f"contents[{follower.content_of(source)}]"
        if signature.sha256 in carried:
            return Fate(Sighting(number, f"{place}.parts[{carried[signature.sha256]}]"), State.EQUAL, "")
        if self._exchange.route != follower.route:
            words = f"Exchange {number} went to another route, which would refuse a foreign signature."
            return Fate(Sighting(number, place), State.WITHHELD, words)
        state = State.ALTERED if carried else State.LOST
        words = "with other bytes in its place" if carried else "without it"
        return Fate(Sighting(number, place), state, f"Exchange {number} sent the turn back {words}.")

    def _absent(self, follower: Carrier) -> Fate:
        """The turn is not among the contents: its text may have moved into the static layer."""
        here, number = Sighting(follower.number, ""), follower.number
        if not self._chunks.isdisjoint(follower.sources):
            words = f"Since exchange {number} its turn is text in a history chunk, which has no signatures."
            return Fate(here, State.DETACHED, words)
        return Fate(here, State.LOST, f"Exchange {number} continues the branch without this turn.")

    @cached_property
    def _turns(self) -> list[Turn]:
        """The turn that the reply became, then its copies on rewritten branches."""
        kinds = [kind for kind in Turn.Kind if kind.is_model]
        return list(
            self._exchange.turns.filter(kind__in=kinds).select_related("content").order_by("origin_id", "pk")
        )

    @property
    def _turn(self) -> Turn | None:
        return next((turn for turn in self._turns if turn.origin_id is None), None)

    @cached_property
    def _sources(self) -> dict[int, Source]:
        """This turn as it was sent, in each form it was sent in (a repaired turn is another form)."""
        names = [f"turn:{turn.public}" for turn in self._turns]
        return (
            Source.objects.filter(session=self._exchange.session_id, name__in=names)
            .select_related("blob")
            .in_bulk()
        )

    @cached_property
    def _names(self) -> dict[int, str]:
        """Key → name of every source of the session."""
        return dict(Source.objects.filter(session=self._exchange.session_id).values_list("pk", "name"))

    @cached_property
    def _chunks(self) -> set[int]:
        """The sources that are history chunks ending at this turn or after it."""
        depth = min((turn.depth for turn in self._turns), default=0)
        late = HistoryChunk.objects.filter(session=self._exchange.session_id, last_turn__depth__gte=depth)
        names = {f"chunk:{pk}" for pk in late.values_list("pk", flat=True)}
        return {key for key, name in self._names.items() if name in names}

    @cached_property
    def _followers(self) -> list[Carrier]:
        """All later requests whose trigger grew from this turn."""
        exchange, below = self._exchange, self._below
        later = Exchange.objects.filter(session=exchange.session_id, number__gt=exchange.number)
        found = [one for one in carriers(later) if one.sources] if below else []
        return [one for one in found if self._names[one.sources[-1]].removeprefix("turn:") in below]

    @cached_property
    def _below(self) -> set[str]:
        """Public ids of the turns that grew from this one or from a copy of it."""
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
