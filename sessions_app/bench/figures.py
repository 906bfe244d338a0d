"""The arithmetic of a measurement: from samples to figures. Pure."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from math import ceil
from statistics import median

from sessions_app.bench.load import Sample


@dataclass(frozen=True, slots=True)
class Figures:
    """What one system did under one load.

    `cpu` is ms per 1,000 chunks; `relay50`, `relay99` the ms from the upstream's write to the reader;
    `first50`, `first99` the ms from sending a message to its first text; `rss` is MB (10⁶ bytes);
    `faults` counts answers that failed or lost text.
    """

    cpu: float
    relay50: float
    relay99: float
    first50: float
    first99: float
    rss: float
    faults: float

    @classmethod
    def of(cls, sample: Sample) -> "Figures":
        return cls(
            cpu=sample.cpu * 1e6 / max(len(sample.relays), 1),
            relay50=percentile(sample.relays, 50),
            relay99=percentile(sample.relays, 99),
            first50=percentile(sample.firsts, 50),
            first99=percentile(sample.firsts, 99),
            rss=sample.rss / 1e6,
            faults=len(sample.faults),
        )

    @classmethod
    def typical(cls, repeats: Sequence["Figures"]) -> "Figures":
        """The median of every figure; of the faults the worst, since none may hide behind a median."""
        middle = {field.name: median(getattr(one, field.name) for one in repeats) for field in fields(cls)}
        return cls(**middle | {"faults": max(one.faults for one in repeats)})


def percentile(values: Sequence[float], percent: float) -> float:
    """The smallest value that `percent` of all values do not exceed (nearest rank); inf of nothing.

    No answer at all must never look like a fast one.
    """
    if not values:
        return float("inf")
    return sorted(values)[max(ceil(len(values) * percent / 100), 1) - 1]


def ratio(value: float, base: float) -> float:
    """`value` in units of `base`; inf where there is no base."""
    return value / base if base else float("inf")


def highest(
    passes: Callable[[int], bool],
    low: int,
    high: int,
    tolerance: int,
    is_in_time: Callable[[], bool] = lambda: True,
) -> int:
    """The largest number of low…high that passes, within `tolerance`; 0 when `low` fails.

    Doubles until one fails, then halves the gap: a system is never loaded much beyond what it can take.
    Takes it that what passes at n passes below n. Out of time, it is the largest that was seen to pass.
    """
    passed, failed = 0, high + 1
    trial = low
    while is_in_time():
        if passes(trial):
            passed = trial
        else:
            failed = trial
        if failed <= low or failed - passed <= max(tolerance, 1):
            break
        trial = (passed + failed) // 2 if failed <= high else min(passed * 2, high)
    return passed
