"""Which requests of foreign programs belong together: sessions, lanes, branches, retries, sub-agents.

No client tells its session, so requests are compared by what they say. A lane is a chain of requests of one
agent; only its last request, the leaf, is compared with. What rests on time or likeness alone is a guess, and
says so.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from sessions_app.capture.agents import Agent
from sessions_app.capture.placements import LaneRole, Leaf, Placement, Relation
from sessions_app.capture.relations import (
    branched,
    continued,
    hop,
    is_adoptable,
    named,
    rests_on_one_text,
    retried,
    side_call,
    side_lane,
    sub_agent,
)
from sessions_app.capture.traits import RequestTraits, text_hash, token_hash

LEAVES = 500
"""Leaves that are compared with; the oldest go first."""


@dataclass(frozen=True, slots=True)
class _Opener:
    """How a lane began: with what was said."""

    session: str
    agent: Agent
    said: tuple[str, ...]


@dataclass
class Grouping:
    """The leaves of one address. `place` takes requests as they come, `end` tells how they were answered."""

    leaves: dict[str, Leaf] = field(default_factory=dict)
    _openers: dict[str, _Opener] = field(default_factory=dict)
    _above: dict[str, str] = field(default_factory=dict)
    """The lanes of sub-agents, with those whose calls began them."""

    def place(self, key: str, at: float, traits: RequestTraits) -> Placement:
        request = Leaf(key, at, traits, Placement(key, key, Relation.OPENS))
        found = self._with_side_request(request, self._find(request))
        request.place = found
        self._adopt(request)
        self.restore([request])
        return found

    def restore(self, requests: Iterable[Leaf]) -> None:
        """Requests with the places that they have, in the order in which they came."""
        for one in requests:
            place = one.place
            self._release_caller(one)
            self._take_over(one)
            if place.relation in (Relation.CONTINUES, Relation.HOP, Relation.RETRY):
                self._end_leaf(place.before, one)
            if place.relation == Relation.CONTINUES:
                self._end_agents(place.lane)
            if place.relation == Relation.SUB_AGENT and (caller := self.leaves.get(place.before)):
                self._above[place.lane] = caller.place.lane
                caller.begun += 1
            if place.relation == Relation.SIDE_CALL:
                self._drop_lane(place.lane)
            self.leaves[one.key] = one
            opens = place.lane == one.key or place.relation == Relation.RETRY
            if opens and not one.has_failed and place.lane not in self._openers:
                self._openers[place.lane] = _Opener(place.session, one.traits.agent, one.traits.bare)
            self._forget_oldest()

    def end(
        self,
        key: str,
        at: float,
        calls: Iterable[Iterable[str]] = (),
        *,
        text: str = "",
        token: str = "",
        signatures: frozenset[str] = frozenset(),
        has_failed: bool = False,
    ) -> None:
        """How a request was answered: a text, calls with the texts of their arguments, or nothing. `token` is
        that of an answer that was paused.
        """
        if has_failed:
            self._openers.pop(key, None)
        if leaf := self.leaves.get(key):
            leaf.calls, leaf.answer = tuple(tuple(one) for one in calls), text_hash(text)
            leaf.ended_at, leaf.has_failed, leaf.token = at, has_failed, token_hash(token)
            leaf.given |= signatures

    def _find(self, request: Leaf) -> Placement:
        leaves = self._comparable(request)
        apart = self._repeated(request)
        others = [leaf for leaf in leaves if leaf.place.session not in apart]
        return (
            hop(request, leaves)
            or retried(request, leaves)
            or continued(request, leaves)
            or branched(request, others)
            or side_call(request, others)
            or sub_agent(request, leaves)
            or named(request, leaves)
            or self._opened(request, leaves)
        )

    def _comparable(self, request: Leaf) -> list[Leaf]:
        """The leaves that have the name of the request, or like it none; the newest first."""
        found = [leaf for leaf in self.leaves.values() if leaf.traits.name == request.traits.name]
        return sorted(found, key=lambda leaf: leaf.at, reverse=True)

    def _repeated(self, request: Leaf) -> set[str]:
        """Sessions in which a lane began with these very words: this is the beginning of another run."""
        traits = request.traits
        if traits.own != 1 or traits.name:
            return set()
        alike = (one for one in self._openers.values() if one.said == traits.bare)
        return {one.session for one in alike if one.agent.is_like(traits.agent)}

    def _opened(self, request: Leaf, leaves: list[Leaf]) -> Placement:
        name = request.traits.name
        if name:
            is_known = any(leaf.place.session == f"name:{name}" for leaf in leaves)
            return Placement(f"name:{name}", request.key, Relation.NAMED if is_known else Relation.OPENS)
        return Placement(request.key, request.key, Relation.OPENS)

    def _with_side_request(self, request: Leaf, found: Placement) -> Placement:
        """Takes in a side request that the agent has just made, with the session that this one opened."""
        if found.relation not in (Relation.OPENS, Relation.CONTINUES, Relation.BRANCH) or request.traits.name:
            return found
        side = next((leaf for leaf in self._comparable(request) if is_adoptable(leaf, request)), None)
        if side is None or side.key == found.before:
            return found
        takes_its_session = found.relation == Relation.OPENS == side.place.relation
        session = side.place.session if takes_its_session else found.session
        return replace(found, session=session, adopted=side.key)

    def _adopt(self, request: Leaf) -> None:
        leaf = self.leaves.get(request.place.adopted)
        if leaf is None:
            return
        session = request.place.session
        lane = side_lane(leaf, self.leaves.values(), session)
        is_guess = rests_on_one_text(leaf.traits)
        leaf.place = Placement(
            session, lane, Relation.SIDE_CALL, LaneRole.SIDE, request.key, is_guess=is_guess
        )
        for other in [one.key for one in self.leaves.values() if one.place.lane == lane and one is not leaf]:
            del self.leaves[other]
        self._openers[leaf.key] = _Opener(session, leaf.traits.agent, leaf.traits.bare)

    def _take_over(self, one: Leaf) -> None:
        """What it has of earlier answers: signatures of its own lane, results for calls of its session."""
        before = self.leaves.get(one.place.before)
        if before is not None and before.place.lane == one.place.lane:
            one.given |= before.given & one.traits.signatures
        for leaf in self.leaves.values():
            is_beside = leaf.is_waiting and leaf.place.session == one.place.session
            if is_beside and leaf.has_results_in(one.traits):
                leaf.calls = ()

    def _end_leaf(self, key: str, following: Leaf) -> None:
        """Its calls have their results now. It stays where the other may have asked beside the chain."""
        leaf = self.leaves.get(key)
        if leaf is None:
            return
        leaf.calls = ()
        if leaf.traits.is_like(following.traits):
            del self.leaves[key]

    def _end_agents(self, lane: str) -> None:
        """The calls of the lane have their results, and so the agents have ended that they began."""
        ended = {lane}
        for below, above in self._above.items():
            if above in ended:
                ended.add(below)
        for leaf in self.leaves.values():
            leaf.is_over = leaf.is_over or leaf.place.lane in ended - {lane}

    def _release_caller(self, request: Leaf) -> None:
        """Whoever writes to a sub-agent after its answer has taken the conversation there: no result goes
        back to the call that began it. google-adk transfers to an agent in this way. Where a call beside it
        has begun none yet, it may have been the program: Gemini CLI tells an agent to end with a call.
        """
        before = self.leaves.get(request.place.before)
        if before is None or before.is_waiting or before.traits.newest == request.traits.newest:
            return
        if request.place.relation != Relation.CONTINUES:
            return
        caller = self._above.get(request.place.lane)
        for leaf in self.leaves.values():
            # A caller that has asked since may have begun the agent again.
            is_callers = leaf.place.lane == caller and leaf.at < before.at
            leaf.is_over = leaf.is_over or (is_callers and leaf.begun >= len(leaf.calls))

    def _drop_lane(self, lane: str) -> None:
        """A side call begins anew each time: its lane needs one leaf."""
        for key in [leaf.key for leaf in self.leaves.values() if leaf.place.lane == lane]:
            del self.leaves[key]

    def _forget_oldest(self) -> None:
        while len(self.leaves) > LEAVES:
            self.leaves.pop(min(self.leaves.values(), key=lambda leaf: leaf.at).key)
        for known in (self._openers, self._above):
            while len(known) > LEAVES:
                del known[next(iter(known))]
