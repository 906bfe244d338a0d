"""`bench writers`, short."""

import pytest

from sessions_app.bench.writers import Written, write


@pytest.mark.slow
def test_four_writers_never_find_the_database_locked() -> None:
    written = write(4, 3.0, plain=False)
    assert written.turns > 20 and written.locked == 0


def test_a_line_names_the_setting_and_its_figures() -> None:
    line = Written(turns=100, locked=3, times=[1.0, 2.0, 30.0], seconds=10).line("ours")
    assert line.split() == ["ours", "100", "10", "3", "2.0", "30.0", "30.0"]
