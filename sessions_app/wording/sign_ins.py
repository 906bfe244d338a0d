"""What the sign-in page says where it refuses."""

from math import ceil


def throttled(seconds: float) -> str:
    minutes = ceil(seconds / 60)
    unit = "minute" if minutes == 1 else "minutes"
    return f"Too many sign-ins failed, so this one was not tried. Try again in {minutes} {unit}."
