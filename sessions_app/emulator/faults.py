"""Faults that no message asked for: by request header or on the command line, by chance and by seed.

    X-Emulator-Fault: error 503; p=0.3; seed=7, wire torn; p=0.1

The words are the markers' words without the slash.
"""

import random
from collections.abc import Iterable
from dataclasses import dataclass

from sessions_app.emulator.markers import Mark, find_marks
from sessions_app.emulator.refusals import invalid

HEADER = "x-emulator-fault"


@dataclass(frozen=True, slots=True)
class Fault:
    """`mark` strikes a request with `probability`; the same seed strikes the same requests."""

    mark: Mark
    probability: float = 1.0
    seed: int = 0

    def strikes(self, number: int) -> bool:
        """`number` counts the requests of one emulator."""
        chance = random.Random(f"{self.seed} {self.mark.word} {self.mark.argument} {number}")  # noqa: S311
        return chance.random() < self.probability


def parse_faults(text: str) -> tuple[Fault, ...]:
    """Raises Refusal (400) for a word or an option that is not known."""
    return tuple(_fault(spec) for spec in text.split(",") if spec.strip())


def struck(faults: Iterable[Fault], number: int) -> tuple[Mark, ...]:
    return tuple(fault.mark for fault in faults if fault.strikes(number))


def _fault(spec: str) -> Fault:
    words, *options = spec.split(";")
    marks = find_marks("/" + words.strip().removeprefix("/"))
    if len(marks) != 1:
        raise invalid(f"Unknown fault: {words.strip()}")
    given = dict(option.strip().partition("=")[::2] for option in options)
    try:
        probability, seed = float(given.pop("p", "1")), int(given.pop("seed", "0"))
    except ValueError:
        raise invalid(f"A fault's p and seed are numbers: {spec.strip()}") from None
    if given:
        raise invalid(f"Unknown option of a fault: {', '.join(given)}")
    return Fault(marks[0], probability, seed)
