"""What has to come of each attack of `bench hostile`: an attack that reached nothing measured nothing."""

from collections.abc import Mapping
from dataclasses import dataclass

from tests.bench.base import Aim
from tests.bench.hostile_people import BACKGROUNDS

MEMORY = 100.0
"""MB that an answer may take, however large the provider makes it."""


@dataclass(frozen=True, slots=True)
class Expected:
    """`reaches` is an outcome that comes at least once, `never` one that does not, `memory` in MB."""

    reaches: str = ""
    never: str = ""
    memory: float | None = None

    def aims(self, name: str, outcomes: Mapping[str, int], memory: float) -> list[Aim]:
        aims = []
        if self.reaches:
            count = outcomes.get(self.reaches, 0)
            aims.append(Aim(f"{name}: {self.reaches}", 1, count, is_floor=True))
        if self.never:
            aims.append(Aim(f"{name}: {self.never}", 0, outcomes.get(self.never, 0)))
        if self.memory is not None:
            aims.append(Aim(f"{name}: MB more", self.memory, memory))
        return aims


BEGUN, ACCEPTED, CONNECTED, REFUSED = "begun", "accepted", "connected", "refused"
ROWS, STILL_ACTIVE = "rows", "still active"
NOT_ALLOWED = "403"
"""Refused for who sent it: nothing of the request was looked at."""

EXPECTED = {
    "nothing": Expected(),
    **{f"template {name}": Expected(BEGUN) for name in BACKGROUNDS},
    "import turns": Expected(ACCEPTED),
    "import 42 MB": Expected(ACCEPTED),
    "upload 45 MB": Expected("200"),
    "upload 126 MB": Expected(never=NOT_ALLOWED),
    "upload chunked": Expected(never=NOT_ALLOWED),
    "event 100 MB": Expected(BEGUN, memory=MEMORY),
    "endless line": Expected(BEGUN, memory=MEMORY),
    "gzip bomb": Expected(BEGUN, memory=MEMORY),
    "endless answer": Expected(BEGUN),
    "deep call": Expected(BEGUN),
    "endless rounds": Expected(BEGUN),
    "long list": Expected(BEGUN),
    "100 sends": Expected(BEGUN),
    "1000 sockets": Expected(CONNECTED),
    "large frames": Expected(REFUSED),
    "20000 fields": Expected(never=NOT_ALLOWED),
    "deep arguments": Expected("200"),
    "poisoned rows": Expected(ROWS, never=STILL_ACTIVE),
}
