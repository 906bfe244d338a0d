"""What `manage.py conform --recordings FOLDER` does."""

from collections.abc import Callable
from pathlib import Path

from sessions_app.conform.recordings.leave_one_out import leave_one_out, overall_rate
from sessions_app.conform.recordings.observations import observe
from sessions_app.conform.recordings.rate_tables import (
    render_differences,
    render_forms,
    render_held_out,
    render_rates,
)
from sessions_app.conform.recordings.recorded import read_folder
from sessions_app.conform.recordings.rule_verdicts import compare_all
from sessions_app.errors import PipewebError

AT_LEAST = 95.0
"""Per cent of the judged exchanges that must be equal in form."""


def judge_folder(
    folder: Path, write: Callable[[str], object], *, rules: bool = False, each_source: bool = False
) -> float:
    """Writes what was found and returns the rate in per cent: of all recordings under the emulator's table
    or, with `each_source`, of each source under the table of the others. Raises PipewebError without any."""
    recordings = read_folder(folder)
    if not recordings:
        raise PipewebError(f"{folder} holds no recordings.", hint="They are files that end with .json.")
    if rules:
        write(render_forms(observe(recordings)))
        write("")
    if each_source:
        found = leave_one_out(recordings)
        write(render_held_out(found))
        return overall_rate(found)
    comparison = compare_all(recordings)
    write(render_rates(comparison))
    if differences := render_differences(comparison.verdicts):
        write(differences)
    return comparison.rate
