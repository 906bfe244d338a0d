"""Which result answers which call."""

from collections import defaultdict, deque
from collections.abc import Iterable, Sequence

Named = tuple[str, str]
"""The id of a call or of a result, often empty, and its name."""


def paired(calls: Sequence[Named], results: Sequence[Named]) -> dict[int, int]:
    """Index of a call → index of its result; without calls that have none.

    A result belongs to the call of its id, else to the first of its name that is left, where one of the two
    has no id: models give ids to some of their calls, and programs leave them out or give their own.
    """
    found: dict[int, int] = {}
    left = Untaken(_ways_to(*result) for result in results)
    for ways in (_by_id, _both_without, _one_without):
        for at, call in enumerate(calls):
            way = ways(call) if at not in found else None
            place = left.take(way) if way is not None else None
            if place is not None:
                found[at] = place
    return found


Way = tuple[str, str]
"""How one is looked for: by its id, by its name, or by its name among those without an id (“bare”)."""


def _by_id(call: Named) -> Way | None:
    return ("id", call[0]) if call[0] else None


def _both_without(call: Named) -> Way | None:
    return None if call[0] else ("bare", call[1])


def _one_without(call: Named) -> Way | None:
    return ("bare" if call[0] else "name", call[1])


def _ways_to(key: str, name: str) -> tuple[Way, Way]:
    return ("id", key) if key else ("bare", name), ("name", name)


class Untaken:
    """What nobody has taken yet, in its order: a turn may have thousands of calls."""

    def __init__(self, ways: Iterable[Iterable[Way]]) -> None:
        """`ways` are those in which each is found."""
        self._taken: set[int] = set()
        self._waiting: defaultdict[Way, deque[int]] = defaultdict(deque)
        for place, found_by in enumerate(ways):
            for way in found_by:
                self._waiting[way].append(place)

    def take(self, way: Way) -> int | None:
        """The place of the first that is found this way."""
        places = self._waiting.get(way, deque())
        while places and places[0] in self._taken:
            places.popleft()
        if not places:
            return None
        self._taken.add(places[0])
        return places.popleft()
