import pytest

from sessions_app.inspector import figures


@pytest.mark.parametrize(
    ("count", "words"),
    [(None, "–"), (0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (999_949, "999.9 kB"), (999_950, "1.0 MB")],
)
def test_sizes_change_unit_where_they_round(count: int | None, words: str) -> None:
    assert figures.size(count) == words


@pytest.mark.parametrize(
    ("milliseconds", "words"), [(None, "–"), (0.44, "0.4 ms"), (840.4, "840 ms"), (12_400, "12.40 s")]
)
def test_durations(milliseconds: float | None, words: str) -> None:
    assert figures.duration(milliseconds) == words


def test_a_missing_count_is_not_zero() -> None:
    assert figures.thousands(None) == "–"
    assert figures.thousands(1204) == "1,204"


@pytest.mark.parametrize(
    ("part", "whole", "words"), [(999, 1000, "99 %"), (1000, 1000, "100 %"), (0, 0, "–"), (None, 10, "–")]
)
def test_a_hundred_percent_means_all_of_it(part: int | None, whole: int, words: str) -> None:
    assert figures.share(part, whole) == words
