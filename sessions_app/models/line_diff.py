"""A unified diff of lines within a bound: difflib alone takes time by the square of the changes."""

from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import Match, SequenceMatcher

STEPS_LIMIT = 5_000_000
"""Lines looked at, and lines of the other text that are alike: some seconds."""

CONTEXT = 3
"""Lines beside each change."""


class TooManySteps(Exception):
    """Comparing the lines takes more than `STEPS_LIMIT`."""


class BoundedMatcher(SequenceMatcher[str]):
    def __init__(self, old: Sequence[str], new: Sequence[str]) -> None:
        super().__init__(None, old, new)
        counts = Counter(old)
        places: dict[str, list[int]] = self.b2j  # type: ignore[attr-defined]
        alike = sum(counts[line] * len(found) for line, found in places.items())
        self._length = len(old)
        self._weight = 1 + alike // max(1, len(old))
        self._left = STEPS_LIMIT

    def find_longest_match(
        self, alo: int = 0, ahi: int | None = None, blo: int = 0, bhi: int | None = None
    ) -> Match:
        """Raises TooManySteps."""
        self._left -= ((self._length if ahi is None else ahi) - alo) * self._weight
        if self._left < 0:
            raise TooManySteps
        return super().find_longest_match(alo, ahi, blo, bhi)


Change = tuple[str, int, int, int, int]
"""As difflib has it: what is done to which lines of the old text, and which of the new one they become."""


def unified(old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    """Hunks without the names of files; where comparing takes too long, one that replaces all lines."""
    for group in _groups(old, new):
        first, last = group[0], group[-1]
        yield f"@@ -{_range(first[1], last[2])} +{_range(first[3], last[4])} @@"
        for what, alo, ahi, blo, bhi in group:
            if what == "equal":
                yield from (f" {line}" for line in old[alo:ahi])
                continue
            yield from (f"-{line}" for line in old[alo:ahi])
            yield from (f"+{line}" for line in new[blo:bhi])


def _groups(old: Sequence[str], new: Sequence[str]) -> list[list[Change]]:
    try:
        return [[*group] for group in BoundedMatcher(old, new).get_grouped_opcodes(CONTEXT)]
    except TooManySteps:
        return [[("replace", 0, len(old), 0, len(new))]]


def _range(start: int, stop: int) -> str:
    """As diff writes it: the first line and their number, which is left out where it is one."""
    length = stop - start
    if length == 1:
        return str(start + 1)
    return f"{start + 1 if length else start},{length}"
