"""Every suitable recording against every rule."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from sessions_app.conform.recordings.playback import Playback
from sessions_app.conform.recordings.recorded import RecordedExchange, Recording
from sessions_app.conform.recordings.returned_steps import StepLedger
from sessions_app.conform.recordings.rules import RULES, Answer
from sessions_app.conform.recordings.suitability import is_wire, reason_to_skip
from sessions_app.emulator import framing
from sessions_app.emulator.answer_form import NEWEST, FormTable

SAME, DIFFERS, NOT_APPLICABLE = "same", "differs", "not applicable"
FRAMING = "bytes around the objects"
"""The rule that compares bytes: our writer, given the recorded objects, writes the recorded bytes."""

_PLACEHOLDER = re.compile("<[A-Z_]+>")


@dataclass(frozen=True, slots=True)
class RuleVerdict:
    """One rule on one exchange; `theirs` and `ours` are what the rule saw."""

    exchange: str
    rule: str
    outcome: str
    theirs: object = None
    ours: object = None

    @property
    def source(self) -> str:
        return self.exchange.partition("__")[0]


@dataclass(slots=True)
class RecordingComparison:
    """What was found in a folder: verdicts, and by reason how many exchanges were left out."""

    verdicts: list[RuleVerdict]
    left_out: Counter[str]

    @property
    def played(self) -> set[str]:
        """The exchanges that the emulator was asked; the bytes of others may have been compared."""
        return {verdict.exchange for verdict in self.verdicts if verdict.rule != FRAMING}

    @property
    def differing(self) -> set[str]:
        """The played exchanges that differ by any rule."""
        found = {verdict.exchange for verdict in self.verdicts if verdict.outcome == DIFFERS}
        return found & self.played

    @property
    def rate(self) -> float:
        """Per cent of the played exchanges that are equal by every rule; 0 when there is none."""
        return 100 * (1 - len(self.differing) / len(self.played)) if self.played else 0.0


def compare_all(recordings: Iterable[Recording], forms: FormTable = NEWEST) -> RecordingComparison:
    """The emulator lays each recording out by `forms` as of its day."""
    comparison = RecordingComparison([], Counter())
    for recording in recordings:
        day = recording.day
        _compare_one(comparison, recording, replace(forms, day=day) if day else forms)
    return comparison


def _compare_one(comparison: RecordingComparison, recording: Recording, forms: FormTable) -> None:
    playback, steps = Playback(forms), StepLedger()
    for number, exchange in enumerate(recording.exchanges):
        name = f"{recording.name}[{number}]"
        if isinstance(exchange, RecordedExchange):
            comparison.verdicts.extend(_framed(name, exchange))
        if isinstance(exchange, str) or (reason := reason_to_skip(exchange)):
            comparison.left_out[exchange if isinstance(exchange, str) else reason] += 1
        elif playback.lacks_cache(exchange):
            comparison.left_out["its cache is not in the recording"] += 1
        else:
            returned = steps.returned(exchange.request) if exchange.generates else None
            theirs = replace(exchange.answer, is_dated=recording.day is not None, returned=returned)
            comparison.verdicts.extend(compare(name, theirs, playback.replay(exchange)))
        if isinstance(exchange, RecordedExchange):
            steps.remember(exchange.answer)


def compare(name: str, theirs: Answer, ours: Answer) -> Iterator[RuleVerdict]:
    """Key order counts only where the recording kept it."""
    ours = replace(
        ours, keeps_order=theirs.keeps_order, names_cache=theirs.names_cache, is_dated=theirs.is_dated
    )
    for rule, look in RULES.items():
        left, right = look(theirs), look(ours)
        outcome = NOT_APPLICABLE if left is None else SAME if left == right else DIFFERS
        yield RuleVerdict(name, rule, outcome, left, right)


def _framed(name: str, exchange: RecordedExchange) -> Iterator[RuleVerdict]:
    """Nothing where the recorder changed bytes: line ends, what it cut out and its placeholders."""
    raw = exchange.raw
    is_text_file = raw.startswith("data:") and "\r\n" not in raw
    if not raw or "fidelity:wire" not in exchange.tags or "trimmed" in exchange.tags or is_text_file:
        return
    is_array = raw.startswith("[")  # framed alike on Vertex, whose whole answers write numbers otherwise
    if not (is_wire(exchange) or is_array) or _PLACEHOLDER.search(raw):
        return
    written = written_bytes(raw, exchange.response_chunks).decode()
    outcome = SAME if written.rstrip() == raw.rstrip() else DIFFERS
    yield RuleVerdict(name, FRAMING, outcome, raw.rstrip(), written.rstrip())


def written_bytes(raw: str, chunks: list[dict[str, object]]) -> bytes:
    """The objects as the emulator writes them in the framing of `raw`."""
    if raw.startswith("data:"):
        return b"".join(framing.events(chunks))
    if raw.startswith("["):
        return b"".join(framing.array(chunks))
    return framing.pretty(chunks[0])
