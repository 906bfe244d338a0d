"""A clock for the emulator that a test moves."""

from datetime import UTC, datetime, timedelta


class Clock:
    """Stands still until a test sets `now` or lets seconds pass."""

    def __init__(self, now: datetime = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now

    def pass_seconds(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)
