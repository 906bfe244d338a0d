from pathlib import Path

import pytest

from sessions_app.conform.recordings.rate_tables import render_rates
from sessions_app.conform.recordings.recorded import Recording, read_folder
from sessions_app.conform.recordings.rule_verdicts import RecordingComparison, compare_all
from tests.conftest import SUMMARY


@pytest.fixture(scope="session")
def traffic(recordings: Path) -> list[Recording]:
    return read_folder(recordings)


@pytest.fixture(scope="session")
def comparison(traffic: list[Recording], pytestconfig: pytest.Config) -> RecordingComparison:
    """Every recording against every rule; the table is printed at the end of the run."""
    found = compare_all(traffic)
    pytestconfig.stash[SUMMARY] = render_rates(found)
    return found
