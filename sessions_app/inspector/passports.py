"""The passport of a signature: where it came from, where it was sent back, equal or not.

Equal means equal decoded bytes; the two base64 alphabets of the wire may differ. A received signature
is followed through every later exchange of its branch, and every signature of a request is traced
back. Of a long history a page shows the newest `SHOWN` at once; the alarms are of all.
"""

from dataclasses import dataclass
from enum import StrEnum

SHOWN = 40

LISTED = 3
"""Exchanges that a passport names from each end of a long list."""


class State(StrEnum):
    """What became of a signature; the value is the word beside it."""

    EQUAL = "equal"
    NOT_DUE = "not due yet"
    WITHHELD = "withheld"
    DETACHED = "detached"
    LOST = "lost"
    ALTERED = "altered"
    STAND_IN = "stand-in"
    UNTRACED = "not traced"

    @property
    def is_alarm(self) -> bool:
        return self in (State.LOST, State.ALTERED)

    @property
    def tone(self) -> str:
        """The colour of its badge; the word stands beside it always."""
        if self.is_alarm:
            return "bad"
        return {State.EQUAL: "good", State.STAND_IN: "warn", State.WITHHELD: "warn"}.get(self, "")


@dataclass(frozen=True, slots=True)
class Sighting:
    """Where a signature was seen: an exchange, and a place in its chunks or its request."""

    exchange: int
    place: str


@dataclass(frozen=True, slots=True)
class Passport:
    """`size` is decoded bytes; `received` is None when no exchange of this session received it."""

    sha256: str
    size: int
    on: str
    state: State
    words: str
    received: Sighting | None = None
    returned: tuple[Sighting, ...] = ()

    @property
    def first(self) -> tuple[Sighting, ...]:
        """Where it was sent back, from the beginning; all of a short list."""
        return self.returned if len(self.returned) <= 2 * LISTED + 1 else self.returned[:LISTED]

    @property
    def last(self) -> tuple[Sighting, ...]:
        return () if self.first == self.returned else self.returned[-LISTED:]

    @property
    def between(self) -> int:
        """How many are not named."""
        return len(self.returned) - len(self.first) - len(self.last)


@dataclass(frozen=True, slots=True)
class Fate:
    """What one later exchange did with a signature."""

    sighting: Sighting
    state: State
    words: str


def judge(fates: list[Fate]) -> tuple[State, str]:
    """One state for all the exchanges that continue the branch: the worst that happened."""
    for state in (State.ALTERED, State.LOST, State.WITHHELD):
        bad = [fate for fate in fates if fate.state is state]
        if bad:
            return state, bad[0].words
    if not fates:
        return State.NOT_DUE, "No later exchange continues this branch yet."
    count = sum(fate.state is State.EQUAL for fate in fates)
    words = f"Sent back byte for byte in {count} exchange{'' if count == 1 else 's'}."
    detached = next((fate for fate in fates if fate.state is State.DETACHED), None)
    if detached is None:
        return State.EQUAL, words
    return State.DETACHED, f"{words} {detached.words}" if count else detached.words
