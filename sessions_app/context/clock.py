"""The time a run shows the model."""

from datetime import datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from sessions_app.models import SessionSettings


def rounded(now: datetime, options: SessionSettings) -> datetime:
    """`now` in the person's time zone, rounded down.

    It stands before the buffered layer, so every change of it costs the implicit prefix of all
    the history behind it: hence minutes, not seconds, and the default of an hour.
    """
    local = now.astimezone(zone(options.time_zone))
    minutes = local.hour * 60 + local.minute
    start = minutes - minutes % options.clock_minutes
    return local.replace(hour=start // 60, minute=start % 60, second=0, microsecond=0)


def zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError):
        return ZoneInfo("UTC")
