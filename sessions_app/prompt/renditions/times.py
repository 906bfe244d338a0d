"""The times that a rendition tells: of panels, of messages, of the request (reference B4, B6)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

MESSAGES_TOLD = 25

MESSAGES = "Last message datetimes:"
NOW = "Current datetime: "

_KNOWN_SINCE = datetime(2020, 1, 1, tzinfo=UTC)
_UNITS = ((3600, "hour"), (60, "minute"), (1, "second"))


@dataclass(frozen=True, slots=True)
class KnownTimes:
    """What the manifest does not keep; all times are aware.

    `panels` maps keys to the last change, `messages` are roles with times, oldest first, `asked` is when the
    request was made.
    """

    panels: Mapping[str, datetime] = field(default_factory=dict)
    messages: Sequence[tuple[str, datetime]] = ()
    asked: datetime | None = None

    def generated_at(self, panel: str) -> str:
        """Times before 2020 come from a clock that was not set."""
        changed = self.panels.get(panel)
        if changed is None or changed < _KNOWN_SINCE:
            return "Panel automatically generated (timestamp unknown)"
        return f"Panel automatically generated at {iso(changed)}"

    def lines(self, clock: str) -> Iterator[str]:
        """What Gemini was told: the times of the last messages and of the request, else `clock`."""
        if told := self.messages[-MESSAGES_TOLD:]:
            yield MESSAGES
        for role, moment in told:
            yield f"  - {role}: {iso(moment)}" + (f" ({age(moment, self.asked)})" if self.asked else "")
        if now := iso(self.asked) if self.asked else clock:
            yield NOW + now


def iso(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


def age(moment: datetime, now: datetime) -> str:
    """In whole hours, minutes or seconds; there are no days."""
    seconds = int((now - moment).total_seconds())
    for size, unit in _UNITS:
        if count := max(0, seconds) // size:
            return f"{count} {unit}{'' if count == 1 else 's'} ago"
    return "just now"
