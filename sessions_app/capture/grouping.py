"""Which requests of foreign programs belong together: sessions, lanes, branches, retries, sub-agents.

No client tells its session, so requests are compared by what they say. A lane is a chain of requests of one
agent; only its last request, the leaf, is compared with. What rests on time or likeness alone is a guess, and
says so.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from sessions_app.capture.placements import LaneRole, Leaf, Placement, Relation
from sessions_app.capture.traits import RequestTraits

ADOPTION_SECONDS = 60.0
"""For so long the request of an agent takes in a side request that came before it."""

RELATED_SECONDS = 600.0
"""For so long a side call or a sub-agent belongs to what was there before."""

QUOTE_LENGTH = 8
"""Characters of an argument that stands in a sub-agent's task not merely by chance."""

MOST = 0.5
"""More than this share of what a request says was said before."""

LEAVES = 500
"""Leaves that are compared with; the oldest go first."""


@dataclass(frozen=True, slots=True)
class _Opener:
    """How a lane began."""

    session: str
    lane: str
    contents: tuple[str, ...]


@dataclass
class Grouping:
    """The leaves of one address. `place` takes requests as they come, `end` tells how they were answered."""

    leaves: dict[str, Leaf] = field(default_factory=dict)
    _openers: dict[str, _Opener] = field(default_factory=dict)

    def place(self, key: str, at: float, traits: RequestTraits) -> Placement:
        request = Leaf(key, at, traits, Placement(key, key, Relation.OPENS))
        found = self._find(request)
        request.place = found
        self._adopt(found)
        self.restore([request])
        return found

    def restore(self, requests: Iterable[Leaf]) -> None:
        """Requests with the places that they have, in the order in which they came."""
        for one in requests:
            place = one.place
            if place.relation in (Relation.CONTINUES, Relation.RETRY):
                self.leaves.pop(place.before, None)
            if place.relation == Relation.SIDE_CALL:
                self._drop_lane(place.lane)
            self.leaves[one.key] = one
            opens = place.lane == one.key or place.relation == Relation.RETRY
            if opens and not one.has_failed and place.lane not in self._openers:
                self._openers[place.lane] = _Opener(place.session, one.traits.lane, one.traits.contents)
            self._forget_oldest()

    def end(
        self, key: str, at: float, calls: Iterable[Iterable[str]] = (), *, has_failed: bool = False
    ) -> None:
        """How a request was answered: with calls, each with the texts of its arguments, or not at all."""
        if has_failed:
            self._openers.pop(key, None)
        if leaf := self.leaves.get(key):
            leaf.calls = tuple(tuple(one) for one in calls)
            leaf.ended_at, leaf.has_failed = at, has_failed

    def _find(self, request: Leaf) -> Placement:
        leaves = self._comparable(request)
        apart = self._repeated(request)
        others = [leaf for leaf in leaves if leaf.place.session not in apart]
        return (
            _continued(request, leaves)
            or _retried(request, leaves)
            or _branched(request, others)
            or _side_call(request, others)
            or _sub_agent(request, leaves)
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
        lanes = self._openers.values()
        return {one.session for one in lanes if (one.lane, one.contents) == (traits.lane, traits.contents)}

    def _opened(self, request: Leaf, leaves: list[Leaf]) -> Placement:
        """A new session, or the one that the agent's side request has opened a moment ago."""
        name = request.traits.name
        if name:
            is_known = any(leaf.place.session == f"name:{name}" for leaf in leaves)
            return Placement(f"name:{name}", request.key, Relation.NAMED if is_known else Relation.OPENS)
        side = next((leaf for leaf in leaves if _is_adoptable(leaf, request)), None)
        adopted = side.key if side else ""
        session = side.place.session if side and side.place.relation == Relation.OPENS else request.key
        return Placement(session, request.key, Relation.OPENS, adopted=adopted)

    def _adopt(self, found: Placement) -> None:
        if leaf := self.leaves.get(found.adopted):
            leaf.place = Placement(
                found.session,
                leaf.key,
                Relation.SIDE_CALL,
                LaneRole.SIDE,
                before=found.lane,
                is_guess=_rests_on_one_text(leaf.traits),
            )
            self._openers[leaf.key] = _Opener(found.session, leaf.traits.lane, leaf.traits.contents)

    def _drop_lane(self, lane: str) -> None:
        """A side call begins anew each time: its lane needs one leaf."""
        for key in [leaf.key for leaf in self.leaves.values() if leaf.place.lane == lane]:
            del self.leaves[key]

    def _forget_oldest(self) -> None:
        while len(self.leaves) > LEAVES:
            self.leaves.pop(min(self.leaves.values(), key=lambda leaf: leaf.at).key)
        while len(self._openers) > LEAVES:
            self._openers.pop(next(iter(self._openers)))


def _continued(request: Leaf, leaves: list[Leaf]) -> Placement | None:
    """All contents of a leaf are the beginning of mine; of several, the longest and newest."""
    mine = request.traits.contents
    sizes = [(len(leaf.traits.contents), leaf) for leaf in _same_lane(request, leaves)]
    found = [(size, leaf) for size, leaf in sizes if size == leaf.shares(request.traits) < len(mine)]
    if not found:
        return None
    size, leaf = max(found, key=lambda one: (one[0], one[1].at))
    return _after(leaf, Relation.CONTINUES, size)


def _retried(request: Leaf, leaves: list[Leaf]) -> Placement | None:
    """The same contents again, after a failure."""
    for leaf in _same_lane(request, leaves):
        if leaf.has_failed and leaf.traits.contents == request.traits.contents:
            return _after(leaf, Relation.RETRY, len(request.traits.contents))
    return None


def _branched(request: Leaf, leaves: list[Leaf]) -> Placement | None:
    """Half of my contents are the beginning of a leaf, or most of what I say was said there."""
    traits = request.traits
    lane = [leaf for leaf in _same_lane(request, leaves) if leaf.place.role != LaneRole.SIDE]
    shared = [(leaf.shares(traits), leaf) for leaf in lane]
    near = [(n, leaf) for n, leaf in shared if n > traits.context and 2 * (n - traits.context) >= traits.own]
    if near:
        n, leaf = max(near, key=lambda one: (one[0], one[1].at))
        return _replayed(request, leaf, leaves) or _after(leaf, Relation.BRANCH, n)
    alike = None if _rests_on_one_text(traits) else _most_alike(request, lane)
    if alike is None:
        return None
    return _after(alike, Relation.BRANCH, alike.shares(traits), is_guess=True)


def _replayed(request: Leaf, leaf: Leaf, leaves: list[Leaf]) -> Placement | None:
    """All that I say was said before, while another session waits: its agent repeats what another's did."""
    if leaf.shares(request.traits) < len(request.traits.contents):
        return None
    waiting = [one for one in leaves if one.place.session != leaf.place.session and one.at > leaf.at]
    return _sub_agent(request, waiting)


def _side_call(request: Leaf, leaves: list[Leaf]) -> Placement | None:
    """Another agent says what was just said: a router, a title, a summary. Of the newest, not the likest."""
    traits = request.traits
    near = [leaf for leaf in leaves if _is_near(leaf, request) and leaf.traits.lane != traits.lane]
    if _rests_on_one_text(traits):
        near = [leaf for leaf in near if leaf.traits.has_tools and not traits.has_tools]
    alike = [leaf for leaf in near if leaf.overlap(traits) > MOST and not _is_adoptable(leaf, request)]
    if not alike:
        return None
    leaf = max(alike, key=lambda one: one.at)
    session = leaf.place.session
    before = [one for one in _same_lane(request, leaves) if one.place.session == session]
    lane = next((one.place.lane for one in before if one.place.role == LaneRole.SIDE), request.key)
    shared, is_guess = leaf.shares(traits), _rests_on_one_text(traits)
    return Placement(session, lane, Relation.SIDE_CALL, LaneRole.SIDE, leaf.key, shared, is_guess)


def _sub_agent(request: Leaf, leaves: list[Leaf]) -> Placement | None:
    """Of a call that waits for its result: my task quotes it, or I come from the same program soon after."""
    waiting = [leaf for leaf in leaves if leaf.is_waiting and _is_near(leaf, request, any_scope=True)]
    others = [leaf for leaf in waiting if leaf.traits.lane != request.traits.lane]
    quoted = next((leaf for leaf in others if _quotes(request, leaf)), None)
    leaf = quoted or next((one for one in others if _is_near(one, request)), None)
    if leaf is None:
        return None
    place = Placement(leaf.place.session, request.key, Relation.SUB_AGENT, LaneRole.SUB_AGENT, leaf.key)
    return replace(place, is_guess=quoted is None)


def _same_lane(request: Leaf, leaves: Iterable[Leaf]) -> list[Leaf]:
    traits = request.traits
    return [leaf for leaf in leaves if (leaf.traits.scope, leaf.traits.lane) == (traits.scope, traits.lane)]


def _after(leaf: Leaf, relation: Relation, shared: int, *, is_guess: bool = False) -> Placement:
    place = leaf.place
    return Placement(place.session, place.lane, relation, place.role, leaf.key, shared, is_guess)


def _most_alike(request: Leaf, leaves: Iterable[Leaf]) -> Leaf | None:
    found = [(leaf.overlap(request.traits), leaf.at, leaf) for leaf in leaves]
    share, _, leaf = max(found, key=lambda one: one[:2], default=(0.0, 0.0, None))
    return leaf if share > MOST else None


def _rests_on_one_text(traits: RequestTraits) -> bool:
    return len(traits.said) <= 1


def _is_near(leaf: Leaf, request: Leaf, *, any_scope: bool = False) -> bool:
    last = leaf.at if leaf.ended_at is None else leaf.ended_at
    is_same = any_scope or leaf.traits.scope == request.traits.scope
    return is_same and request.at - last <= RELATED_SECONDS


def _quotes(request: Leaf, leaf: Leaf) -> bool:
    arguments = (text for call in leaf.calls for text in call)
    return any(len(text) >= QUOTE_LENGTH and text in request.traits.opening for text in arguments)


def _is_adoptable(leaf: Leaf, request: Leaf) -> bool:
    """Whether it asked without tools what this request asks with them, and began alone or by a guess."""
    place = leaf.place
    is_alone = place.lane == leaf.key and (
        place.relation == Relation.OPENS or (place.relation == Relation.SUB_AGENT and place.is_guess)
    )
    is_side = request.traits.has_tools and not leaf.traits.has_tools
    is_same_task = bool(request.traits.newest) and leaf.traits.newest == request.traits.newest
    is_near = _is_near(leaf, request) and request.at - leaf.at <= ADOPTION_SECONDS
    return is_alone and is_side and is_same_task and is_near
