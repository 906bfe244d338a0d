"""Every suitable recording against every rule, and the table of it."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import orjson

from tests.conformance.playback import Playback, reason_to_skip, recorded
from tests.conformance.rules import RULES, Answer

SAME, DIFFERS, NOT_APPLICABLE = "same", "differs", "not applicable"


@dataclass(frozen=True, slots=True)
class Verdict:
    """One rule on one exchange; `theirs` and `ours` are what the rule saw."""

    exchange: str
    rule: str
    outcome: str
    theirs: object = None
    ours: object = None


def compare(name: str, theirs: Answer, ours: Answer) -> Iterator[Verdict]:
    """Key order counts only where the recording kept it."""
    ours = replace(ours, keeps_order=theirs.keeps_order, names_cache=theirs.names_cache)
    for rule, look in RULES.items():
        left, right = look(theirs), look(ours)
        outcome = NOT_APPLICABLE if left is None else SAME if left == right else DIFFERS
        yield Verdict(name, rule, outcome, left, right)


def compare_file(path: Path) -> Iterator[Verdict]:
    playback = Playback()
    for number, exchange in enumerate(orjson.loads(path.read_bytes())["exchanges"]):
        if not reason_to_skip(exchange):
            yield from compare(f"{path.stem}[{number}]", recorded(exchange), playback.replay(exchange))


def compare_folder(folder: Path) -> list[Verdict]:
    return [verdict for path in sorted(folder.glob("*.json")) for verdict in compare_file(path)]


def skipped(folder: Path) -> Counter[str]:
    """Exchanges that cannot be compared, by reason."""
    reasons = (
        reason_to_skip(exchange)
        for path in sorted(folder.glob("*.json"))
        for exchange in orjson.loads(path.read_bytes())["exchanges"]
    )
    return Counter(reason for reason in reasons if reason)


def render_table(verdicts: list[Verdict]) -> str:
    """Rule × same / differs / not applicable, as text."""
    counts = Counter((verdict.rule, verdict.outcome) for verdict in verdicts)
    exchanges = len({verdict.exchange for verdict in verdicts})
    lines = [f"{f'{exchanges} recorded exchanges':32}{SAME:>6}{DIFFERS:>9}{NOT_APPLICABLE:>16}"]
    for rule in RULES:
        same, differs, rest = (counts[rule, outcome] for outcome in (SAME, DIFFERS, NOT_APPLICABLE))
        lines.append(f"{rule:32}{same:>6}{differs:>9}{rest:>16}")
    return "\n".join(lines)
