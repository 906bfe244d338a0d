"""Durations and times as protobuf's JSON has them, and its words for what is neither.

"Illegal duration format" is quoted of the cache API as well; the other words are those of protobuf's source
(`ProtoStreamObjectWriter::RenderDuration`, `RenderTimestamp`).
"""

import re
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Annotated

from pydantic import BeforeValidator

from sessions_app.emulator.wire_violations import DURATION, TIMESTAMP, wrong_value

_SECONDS = re.compile(r"(\d+(?:\.\d{1,9})?)s", re.ASCII)
_LONGEST = 315_576_000_000
"""Seconds that a duration has at most: ten thousand years."""


def _duration(value: object) -> timedelta:
    if isinstance(value, timedelta):
        return value
    if not isinstance(value, str):
        raise wrong_value(DURATION, f"Invalid data type for duration, value is {value}")
    if not value.endswith("s"):
        raise wrong_value(DURATION, "Illegal duration format; duration must end with 's'")
    found = _SECONDS.fullmatch(value)
    if found is None:
        raise wrong_value(DURATION, "Invalid duration format, failed to parse seconds")
    if float(found[1]) > _LONGEST:
        raise wrong_value(DURATION, "Duration value exceeds limits")
    return timedelta(seconds=float(found[1]))


def _timestamp(value: object) -> datetime:
    if isinstance(value, datetime):
        return value
    if not isinstance(value, str):
        raise wrong_value(TIMESTAMP, f"Invalid data type for timestamp, value is {value}")
    with suppress(ValueError, OverflowError):
        found = datetime.fromisoformat(value)
        if found.tzinfo:
            return found.astimezone(UTC)
    raise wrong_value(TIMESTAMP, f"Invalid time format: {value}")


Duration = Annotated[timedelta, BeforeValidator(_duration)]
Timestamp = Annotated[datetime, BeforeValidator(_timestamp)]
