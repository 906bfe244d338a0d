"""What was found in a folder of recordings, as text."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date

from sessions_app.conform.recordings.derivation import expected, line_of
from sessions_app.conform.recordings.leave_one_out import HeldOut, overall_rate
from sessions_app.conform.recordings.observations import DATED, TURN_TOKEN, FormObservation
from sessions_app.conform.recordings.rule_verdicts import (
    DIFFERS,
    FRAMING,
    NOT_APPLICABLE,
    SAME,
    RecordingComparison,
    RuleVerdict,
)
from sessions_app.conform.recordings.rules import RULES
from sessions_app.emulator.answer_form import NEWEST, Signable

_LONGEST = 400

WORDS: dict[str, str] = {
    "closes_empty": "a stream ends with an empty text",
    "splits_calls": "parallel calls of a stream come in chunks of their own",
    "counts_thoughts_at_once": "each thought chunk counts thoughts",
    "restores_thoughts": "the prompt grows in the last chunk after a signed call",
    **{str(kind): f"signed: {kind}" for kind in Signable},
    "call_ids_from": "calls have an id",
    "tier_from": "usage names a service tier",
    "turn_token_from": "a turn token follows the response id",
}
"""The properties of an answer that a model family or a day decides, in the order of the table."""


def render_rates(comparison: RecordingComparison) -> str:
    """Rule × same / differs / not applicable, what was left out and why, and the rate of the whole."""
    counts = Counter((verdict.rule, verdict.outcome) for verdict in comparison.verdicts)
    title = f"{len(comparison.played)} recorded exchanges"
    lines = [f"{title:32}{SAME:>6}{DIFFERS:>9}{NOT_APPLICABLE:>16}{'rate':>8}"]
    for rule in (*RULES, FRAMING):
        same, differs, rest = (counts[rule, outcome] for outcome in (SAME, DIFFERS, NOT_APPLICABLE))
        rate = f"{100 * same / (same + differs):.1f} %" if same + differs else "–"
        lines.append(f"{rule:32}{same:>6}{differs:>9}{rest:>16}{rate:>8}")
    lines += ["", *(f"{count:5} left out: {reason}" for reason, count in comparison.left_out.most_common())]
    equal = len(comparison.played) - len(comparison.differing)
    return "\n".join(
        [*lines, "", f"Equal by every rule: {equal} of {len(comparison.played)}, {comparison.rate:.1f} %"]
    )


def render_differences(verdicts: Iterable[RuleVerdict]) -> str:
    return "\n".join(
        f"\n{one.exchange}: {one.rule}\n  recorded {_short(one.theirs)}\n  emulator {_short(one.ours)}"
        for one in verdicts
        if one.outcome == DIFFERS
    )


def render_held_out(found: Sequence[HeldOut]) -> str:
    lines = [f"{'source left out':20}{'judged':>8}{'equal':>7}{'rate':>9}"]
    for one in found:
        judged, differing = len(one.comparison.played), len(one.comparison.differing)
        lines.append(f"{one.source:20}{judged:>8}{judged - differing:>7}{one.comparison.rate:>7.1f} %")
    differences = filter(None, (render_differences(one.comparison.verdicts) for one in found))
    return "\n".join(
        [*lines, "", f"Each source by the table of the others: {overall_rate(found):.1f} %", *differences]
    )


@dataclass(slots=True)
class FormRow:
    """One line of models and one property: how many answers have it and have it not, and how many are not as
    the emulator's table says. `days` are those of the answers that have it."""

    yes: int = 0
    no: int = 0
    against: int = 0
    days: list[date] = field(default_factory=list)

    def add(self, one: FormObservation) -> None:
        self.yes, self.no = self.yes + bool(one.value), self.no + (not one.value)
        if one.value and one.day:
            self.days.append(one.day)
        self.against += expected(one.question, one.version, one.day) != one.value


def render_forms(observations: Iterable[FormObservation]) -> str:
    """The table of README.md: property × models, with the recordings for and against."""
    rows: dict[tuple[str, str], FormRow] = defaultdict(FormRow)
    for one in observations:
        if one.question in WORDS and expected(one.question, one.version, one.day) is not None:
            rows[one.question, _models(one)].add(one)
    head = "| property | models | have it | have it not | for the rule | against it |"
    return "\n".join((head, "|---|---|---|---|---|---|", *_form_rows(rows)))


def _form_rows(rows: dict[tuple[str, str], FormRow]) -> Iterator[str]:
    for question, words in WORDS.items():
        for models in sorted(models for asked, models in rows if asked == question):
            row = rows[question, models]
            first = f" (from {min(row.days)})" if question in DATED and row.days else ""
            yield (
                f"| {words} | {models} | {row.yes}{first} | {row.no} "
                f"| {row.yes + row.no - row.against} | {row.against} |"
            )


def _models(one: FormObservation) -> str:
    """Models that answer alike; Flash-Lite signs differently, 2.5 Pro streams calls differently."""
    line = line_of(one.version)
    has_token = one.question == TURN_TOKEN and NEWEST.of(one.version).turn_token_from
    if one.question == "splits_calls" or has_token:
        return one.version
    return f"{line}, Flash-Lite" if "lite" in one.version else line


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "…"
