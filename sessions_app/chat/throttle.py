"""Long work that leaves half of a processor to others."""

from time import monotonic, sleep

LEAST_SECONDS = 0.005
"""Work that is worth a rest."""


class Throttle:
    """Gives half of the time to others.

    Not by a low priority: whoever waits for the write lock would wait for a thread that gets no processor.
    """

    def __init__(self) -> None:
        self._began = monotonic()

    def rest(self) -> None:
        """Sleeps as long as was worked since the last rest, if that is worth a sleep."""
        worked = monotonic() - self._began
        if worked >= LEAST_SECONDS:
            sleep(worked)
            self._began = monotonic()
