"""Where a request of a foreign program belongs, and the last request of a lane."""

from dataclasses import dataclass
from enum import StrEnum
from itertools import takewhile

from sessions_app.capture.traits import RequestTraits


class Relation(StrEnum):
    """What a request is to the one that it was compared with. `HOP`: it asks for the rest of its answer."""

    OPENS = "opens"
    CONTINUES = "continues"
    HOP = "hop"
    RETRY = "retry"
    BRANCH = "branch"
    REPEAT = "repeat"
    SIDE_CALL = "side_call"
    SUB_AGENT = "sub_agent"
    NAMED = "named"
    JOINED = "joined"


class LaneRole(StrEnum):
    MAIN = "main"
    SIDE = "side"
    SUB_AGENT = "sub_agent"


@dataclass(frozen=True, slots=True)
class Placement:
    """`session` and `lane` are the keys of the requests that opened them, or the name that a client gave.

    `before` is the request that this one is compared with, `shared` the number of contents that both begin
    with. `adopted` opened a session of its own before, and is a side call of this request.
    """

    session: str
    lane: str
    relation: Relation
    role: LaneRole = LaneRole.MAIN
    before: str = ""
    shared: int = 0
    is_guess: bool = False
    adopted: str = ""


@dataclass(slots=True)
class Leaf:
    """The last request of a lane. `calls` has the texts of the arguments of the calls that it was answered
    with, a tuple for each call; `ended_at` is None while the answer comes. `token` stands for that with which
    a paused answer goes on. `is_over`: the agent whose call began this one has gone on since, or the agent
    that its own call began answers somebody else now. `begun` counts the agents that its calls began. `given`
    are the signatures of its answer, and those of earlier answers of its lane that it carried.
    """

    key: str
    at: float
    traits: RequestTraits
    place: Placement
    calls: tuple[tuple[str, ...], ...] = ()
    ended_at: float | None = None
    has_failed: bool = False
    answer: str = ""
    token: str = ""
    is_over: bool = False
    begun: int = 0
    given: frozenset[str] = frozenset()

    @property
    def is_waiting(self) -> bool:
        """Whether its calls have no results yet, as far as was seen."""
        return bool(self.calls)

    def shares(self, traits: RequestTraits, *, bare: bool = False) -> int:
        """How many contents both begin with; `bare`: in what is said, see `RequestTraits.bare`."""
        mine, others = (self.traits.bare, traits.bare) if bare else (self.traits.contents, traits.contents)
        pairs = zip(mine, others, strict=False)
        return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))

    def returned(self, traits: RequestTraits) -> int:
        """How many signatures of this lane's answers a request carries: no other conversation has them."""
        return len(self.given & traits.signatures)

    @property
    def _signed(self) -> frozenset[str]:
        """The signatures of its answer."""
        return self.given - self.traits.signatures

    def came_back(self, traits: RequestTraits) -> bool:
        """Whether a request has its answer, by a signature or its text: behind its contents as a whole, or
        anywhere in one piece.
        """
        behind = traits.texts[len(self.traits.contents) :][:1]
        is_said = self.answer in behind or self.answer in traits.said
        return bool(self._signed & traits.signatures or (self.answer and is_said))

    def was_replaced(self, traits: RequestTraits) -> bool:
        """Whether a request that begins with its contents has another answer behind them, as far as can be
        told: some programs drop all signatures.
        """
        is_known = self.answer or (self._signed and traits.signatures)
        return bool(is_known) and not self.came_back(traits)

    def has_results_in(self, traits: RequestTraits) -> bool:
        """Whether a request has the answer in its history, and so the results of its calls."""
        if self._signed & traits.signatures:
            return True
        size = len(self.traits.contents)
        return size == self.shares(traits, bare=True) < len(traits.contents) and traits.answers[size]

    def overlap(self, traits: RequestTraits) -> float:
        """The share of what a request says that was said here, also in the answer."""
        known = sum(text in self.traits.said or text == self.answer for text in traits.said)
        return known / len(traits.said) if traits.said else 0.0
