"""Numbers as a person reads them: counts, sizes, durations, shares."""

NOTHING = "–"
"""Stands where the provider reported no number; never 0, which would be a claim."""


def thousands(count: int | None) -> str:
    return NOTHING if count is None else f"{count:,}"


def size(count: int | None) -> str:
    """Bytes in decimal units: 812 B, 12.4 kB, 1.1 MB."""
    if count is None:
        return NOTHING
    if count < 1000:
        return f"{count} B"
    if count < 999_950:
        return f"{count / 1000:.1f} kB"
    return f"{count / 1_000_000:.1f} MB"


def duration(milliseconds: float | None) -> str:
    """Milliseconds below a second, seconds above: 0.4 ms, 840 ms, 12.4 s."""
    if milliseconds is None:
        return NOTHING
    if milliseconds < 10:
        return f"{milliseconds:.1f} ms"
    if milliseconds < 1000:
        return f"{milliseconds:.0f} ms"
    return f"{milliseconds / 1000:.2f} s"


def share(part: int | None, whole: int | None) -> str:
    """A whole percentage; rounded down, so that 100 % means all of it."""
    if not whole or part is None:
        return NOTHING
    return f"{100 * part // whole} %"
