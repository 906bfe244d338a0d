"""Each source judged with a table of forms that was derived from the recordings of all others.

A source is a project with a client and a recorder of its own, so this says how well the choices hold for
recordings that nobody has read. What the emulator does alike for every model is not derived.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from sessions_app.conform.recordings.derivation import derive
from sessions_app.conform.recordings.observations import observe
from sessions_app.conform.recordings.recorded import Recording
from sessions_app.conform.recordings.rule_verdicts import RecordingComparison, compare_all


@dataclass(frozen=True, slots=True)
class HeldOut:
    """One source, and its comparison under the table of the others."""

    source: str
    comparison: RecordingComparison


def leave_one_out(recordings: Sequence[Recording]) -> list[HeldOut]:
    """One result for each source with an exchange that can be judged."""
    observations = list(observe(recordings))
    found = []
    for source in sorted({recording.source for recording in recordings}):
        forms = derive(one for one in observations if one.source != source)
        own = [recording for recording in recordings if recording.source == source]
        found.append(HeldOut(source, compare_all(own, forms)))
    return [one for one in found if one.comparison.played]


def overall_rate(found: Sequence[HeldOut]) -> float:
    """Per cent of all judged exchanges, each under the table without its source."""
    played = sum(len(one.comparison.played) for one in found)
    differing = sum(len(one.comparison.differing) for one in found)
    return 100 * (1 - differing / played) if played else 0.0
