"""What a request is to the last requests of the lanes: the rules of grouping, each with what it rests on."""

from collections.abc import Iterable
from dataclasses import replace

from sessions_app.capture.agents import NOBODY
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


def continued(request: Leaf, leaves: list[Leaf]) -> Placement | None:
    """The request begins with all contents of a leaf; of several leaves, the longest, the one whose answer
    follows, and the newest. Not where another answer follows, and another lane has that one too.

    Where no leaf has the very same contents, signatures and thoughts may be gone.
    """
    traits = request.traits
    found = [(_goes_on(leaf, traits), leaf) for leaf in _same_program(request, leaves)]
    known = [(rank, leaf) for rank, leaf in found if rank is not None]
    if not known:
        return None
    leaf = max(known, key=lambda one: one[0])[1]
    own, chains = leaf.traits.own, _chains(request, leaves)
    if leaf.was_replaced(traits) and any(_shared_own(one, traits) > own for one in chains):
        return None
    is_guess = leaf.traits.lane != traits.lane and leaf.traits.own <= 1
    return _after(leaf, Relation.CONTINUES, leaf.shares(traits), is_guess=is_guess)


def _goes_on(leaf: Leaf, traits: RequestTraits) -> tuple[bool, int, bool, bool, float] | None:
    """How well a request goes on from a leaf; None where it does not.

    The instruction and the tools of the agent may have changed where the answer of the model follows.
    """
    size = len(leaf.traits.contents)
    if not size == leaf.shares(traits, bare=True) < len(traits.contents):
        return None
    is_same = leaf.traits.lane == traits.lane
    if not is_same and not (traits.answers[size] and traits.may_follow(leaf.traits)):
        return None
    return leaf.shares(traits) == size, size, leaf.came_back(traits), is_same, leaf.at


def hop(request: Leaf, leaves: list[Leaf]) -> Placement | None:
    """The same contents with the token of a paused answer: the rest of it is asked for."""
    traits = request.traits
    for leaf in _same_program(request, leaves):
        if traits.token and leaf.token == traits.token and leaf.traits.contents == traits.contents:
            return _after(leaf, Relation.HOP, len(traits.contents))
    return None


def retried(request: Leaf, leaves: list[Leaf]) -> Placement | None:
    """What was said is the same again, after a failure; signatures may be what was mended."""
    traits = request.traits
    for leaf in _same_program(request, leaves):
        is_equal = leaf.has_failed and leaf.traits.bare == traits.bare
        if is_equal and _is_of_lane(leaf, traits):
            return _after(leaf, Relation.RETRY, len(traits.contents))
    return None


def branched(request: Leaf, leaves: list[Leaf]) -> Placement | None:
    """At least half of the request's own contents are the beginning of a leaf, or it carries signatures of
    the leaf's answers, or most of what it says was said there.

    It is a repetition where the leaf has all of its contents. Where answers of a lane come back, no other is
    looked at: a program that shortens its history leaves little else of it.
    """
    traits = request.traits
    chains = _chains(request, leaves)
    signed = [leaf for leaf in chains if leaf.returned(traits) and _is_of_lane(leaf, traits)]
    chains = signed or chains
    near = [(n, leaf) for leaf in chains if 2 * (n := _shared_own(leaf, traits)) >= traits.own and n]
    if near:
        leaf = max(near, key=lambda one: (one[0], one[1].at))[1]
        shared = leaf.shares(traits)
        relation = Relation.REPEAT if shared == len(traits.contents) else Relation.BRANCH
        return _replayed(request, leaf, leaves) or _after(leaf, relation, shared)
    if signed:
        leaf = max(signed, key=lambda one: (one.returned(traits), one.at))
        return _after(leaf, Relation.BRANCH, leaf.shares(traits))
    lane = [leaf for leaf in chains if leaf.traits.lane == traits.lane]
    alike = None if rests_on_one_text(traits) else _most_alike(request, lane)
    if alike is None:
        return None
    return _after(alike, Relation.BRANCH, alike.shares(traits), is_guess=True)


def _chains(request: Leaf, leaves: Iterable[Leaf]) -> list[Leaf]:
    return [leaf for leaf in _same_program(request, leaves) if leaf.place.role != LaneRole.SIDE]


def _is_of_lane(leaf: Leaf, traits: RequestTraits) -> bool:
    return leaf.traits.lane == traits.lane or traits.is_like(leaf.traits)


def _shared_own(leaf: Leaf, traits: RequestTraits) -> int:
    """How many contents of its own a request begins with as the leaf does; with another instruction or other
    tools, only where an answer of the model is among them.
    """
    shared = leaf.shares(traits, bare=True)
    is_like = any(traits.answers[:shared]) and traits.is_like(leaf.traits)
    return max(0, shared - traits.context) if is_like or leaf.traits.lane == traits.lane else 0


def _replayed(request: Leaf, leaf: Leaf, leaves: list[Leaf]) -> Placement | None:
    """The request says nothing new while another session waits: the agent of that one repeats it."""
    if leaf.shares(request.traits) < len(request.traits.contents):
        return None
    waiting = [one for one in leaves if one.place.session != leaf.place.session and one.at > leaf.at]
    return sub_agent(request, waiting)


def side_call(request: Leaf, leaves: list[Leaf]) -> Placement | None:
    """Another agent says what was just said: a router, a title, a summary. Of the newest, not the likest,
    but first of those whose answers it carries.
    """
    traits = request.traits
    near = [leaf for leaf in leaves if _is_near(leaf, request) and leaf.traits.lane != traits.lane]
    if rests_on_one_text(traits):
        near = [leaf for leaf in near if leaf.traits.has_tools and not traits.has_tools]
    alike = [leaf for leaf in near if leaf.overlap(traits) > MOST and not is_adoptable(leaf, request)]
    if not alike:
        return None
    signed = [leaf for leaf in alike if leaf.returned(traits)]
    leaf = max(signed or alike, key=lambda one: one.at)
    session = leaf.place.session
    lane = side_lane(request, leaves, session)
    shared, is_guess = leaf.shares(traits), rests_on_one_text(traits)
    return Placement(session, lane, Relation.SIDE_CALL, LaneRole.SIDE, leaf.key, shared, is_guess)


def side_lane(request: Leaf, leaves: Iterable[Leaf], session: str) -> str:
    """The lane in which the same agent asked beside this session before, else a new one."""
    before = [one for one in _same_lane(request, leaves) if one.place.session == session]
    sides = [one for one in before if one.place.role == LaneRole.SIDE and one is not request]
    return sides[0].place.lane if sides else request.key


def sub_agent(request: Leaf, leaves: list[Leaf]) -> Placement | None:
    """The request is of the agent that a waiting call began: its history has the call, its task quotes the
    call, or it comes from the same program soon after.

    A call that had to be made as the form of an answer may never get a result: coming after it says nothing.
    Neither does coming after a call with which a sub-agent handed back to the agent that had begun it.
    """
    waiting = [leaf for leaf in leaves if leaf.is_waiting and _is_near(leaf, request, any_scope=True)]
    others = [leaf for leaf in waiting if leaf.traits.lane != request.traits.lane]
    handed = next((leaf for leaf in others if leaf.returned(request.traits)), None)
    quoted = handed or next((leaf for leaf in others if _quotes(request, leaf)), None)
    near = (one for one in others if _is_near(one, request))
    leaf = quoted or next((one for one in near if not (one.is_over or one.traits.must_call)), None)
    if leaf is None:
        return None
    place = Placement(leaf.place.session, request.key, Relation.SUB_AGENT, LaneRole.SUB_AGENT, leaf.key)
    return replace(place, is_guess=quoted is None)


def named(request: Leaf, leaves: list[Leaf]) -> Placement | None:
    """Only the name that the client gave says where the request belongs: after the last one of its agent."""
    chains = [leaf for leaf in leaves if leaf.place.role != LaneRole.SIDE]
    alike = [leaf for leaf in chains if _has_agent_of(leaf, request.traits)]
    if not request.traits.name or not alike:
        return None
    leaf = max(alike, key=lambda one: one.at)
    return _after(leaf, Relation.NAMED, leaf.shares(request.traits))


def _has_agent_of(leaf: Leaf, traits: RequestTraits) -> bool:
    """Whether both have one agent, by instruction and tools or by cache; without any there is none."""
    if traits.agent == NOBODY:
        return bool(traits.cache) and traits.cache == leaf.traits.cache
    return traits.agent.may_follow(leaf.traits.agent)


def _same_lane(request: Leaf, leaves: Iterable[Leaf]) -> list[Leaf]:
    return [leaf for leaf in _same_program(request, leaves) if leaf.traits.lane == request.traits.lane]


def _same_program(request: Leaf, leaves: Iterable[Leaf]) -> list[Leaf]:
    return [leaf for leaf in leaves if leaf.traits.scope == request.traits.scope]


def _after(leaf: Leaf, relation: Relation, shared: int, *, is_guess: bool = False) -> Placement:
    place = leaf.place
    return Placement(place.session, place.lane, relation, place.role, leaf.key, shared, is_guess)


def _most_alike(request: Leaf, leaves: Iterable[Leaf]) -> Leaf | None:
    found = [(leaf.overlap(request.traits), leaf.at, leaf) for leaf in leaves]
    share, _, leaf = max(found, key=lambda one: one[:2], default=(0.0, 0.0, None))
    return leaf if share > MOST else None


def rests_on_one_text(traits: RequestTraits) -> bool:
    return len(traits.said) <= 1


def _is_near(leaf: Leaf, request: Leaf, *, any_scope: bool = False) -> bool:
    last = leaf.at if leaf.ended_at is None else leaf.ended_at
    is_same = any_scope or leaf.traits.scope == request.traits.scope
    return is_same and request.at - last <= RELATED_SECONDS


def _quotes(request: Leaf, leaf: Leaf) -> bool:
    arguments = (text for call in leaf.calls for text in call)
    return any(len(text) >= QUOTE_LENGTH and text in request.traits.opening for text in arguments)


def is_adoptable(leaf: Leaf, request: Leaf) -> bool:
    """Whether it asked without tools what this request asks with them, and began alone or by a guess."""
    place = leaf.place
    is_alone = place.lane == leaf.key and (
        place.relation == Relation.OPENS or (place.relation == Relation.SUB_AGENT and place.is_guess)
    )
    is_side = request.traits.has_tools and not leaf.traits.has_tools
    is_same_task = bool(request.traits.newest) and leaf.traits.newest == request.traits.newest
    is_near = _is_near(leaf, request) and request.at - leaf.at <= ADOPTION_SECONDS
    return is_alone and is_side and is_same_task and is_near
