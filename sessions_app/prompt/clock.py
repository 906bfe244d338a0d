"""The clock of the dynamic layer: a rounded time that says how it is rounded.

It stands before the history, so every change of it ends the cached prefix there.
"""

from datetime import UTC, datetime, timedelta, tzinfo


def rounded_down(moment: datetime, zone: tzinfo, minutes: int) -> datetime:
    """`moment` in `zone`, rounded down to a multiple of `minutes` since midnight there.

    By the time that has passed, not by the face of the clock: so on days of 23 or 25 hours too it is an
    existing time, and never later or more than `minutes` earlier than `moment`.
    """
    step = timedelta(minutes=minutes)
    local = moment.astimezone(zone).replace(hour=0, minute=0, second=0, microsecond=0, fold=0)
    midnight = local.astimezone(UTC)
    return (midnight + (moment - midnight) // step * step).astimezone(zone)


def clock_text(rounded: datetime, minutes: int) -> str:
    """What the model reads; `rounded` is the start of a run, whose later requests have the same clock."""
    step = "the minute" if minutes == 1 else f"{minutes} minutes"
    return f"{rounded.isoformat()} (when this answer was begun, rounded down to {step})"
