"""`bench writers`, short."""

import pytest

from tests.bench.writers import WriterTimes, write


@pytest.mark.slow
def test_four_writers_never_find_the_database_locked() -> None:
    written = write(4, 3.0, plain=False)
    assert len(written.ms) > 20 and written.locked == 0


def test_a_line_names_the_setting_and_its_figures() -> None:
    line = WriterTimes(locked=3, ms=[1.0, 2.0, 30.0], seconds=0.5).line("ours")
    assert line.split() == ["ours", "3", "6", "3", "2.0", "30.0", "30.0"]
