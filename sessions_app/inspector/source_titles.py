"""The names of the sources of requests, with the numbers that turns and history chunks are called by."""

from collections.abc import Iterable, Sequence

from sessions_app.models.turn_numbers import turn_numbers
from sessions_app.prompt.prompt_comparison import CHUNKS
from sessions_app.wording.sources import source_name, source_title, turns_title


class SourceTitles:
    """Names of the sources of some requests. Turns are numbered on their branch, which is one query; chunks
    in the order of the first request that has them.
    """

    def __init__(self, session_pk: int, *requests: Sequence[str]) -> None:
        self.numbers = turn_numbers(session_pk, {source for request in requests for source in request})
        for request in requests:
            for number, source in enumerate(_chunks(request), start=1):
                self.numbers.setdefault(source, number)

    def title(self, source: str) -> str:
        """As a heading: Turn 3."""
        return source_title(source, self.numbers.get(source, 0))

    def span(self, sources: Sequence[str]) -> str:
        """Turns in a row, as a heading: Turns 3 to 8."""
        first, last = (self.numbers.get(source, 0) for source in (sources[0], sources[-1]))
        return turns_title(first, last, len(sources))

    def name(self, source: str) -> str:
        """Within a sentence: turn 3."""
        return source_name(source, self.numbers.get(source, 0))


def _chunks(request: Iterable[str]) -> list[str]:
    return [source for source in request if source.startswith(CHUNKS)]
