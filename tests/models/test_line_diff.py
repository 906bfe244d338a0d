"""Diffs of lines: as difflib writes them, and within a bound."""

from difflib import unified_diff
from time import process_time

from hypothesis import given
from hypothesis import strategies as st

from sessions_app.models.file_change import DIFF_LIMIT, diff_of
from sessions_app.models.line_diff import unified

LINES = st.lists(st.sampled_from(["a", "b", "", "-c", "+d"]), max_size=30)


@given(LINES, LINES)
def test_a_diff_is_that_of_difflib(old: list[str], new: list[str]) -> None:
    assert [*unified(old, new)] == [*unified_diff(old, new, lineterm="")][2:]


def test_a_change_in_a_long_file_is_shown_with_its_context() -> None:
    old = [f"line {number % 5_000}" for number in range(100_000)]
    new = [*old[:70_000], "other", *old[70_001:]]
    assert [*unified(old, new)] == [*unified_diff(old, new, lineterm="")][2:]


def test_files_that_differ_in_every_other_line_are_compared_within_a_bound() -> None:
    old, new = (
        "".join(f"{number}\n{name}{number}\n" for number in range(60_000)).encode() for name in ("a", "b")
    )
    began = process_time()
    diff = diff_of(old, new)
    assert process_time() - began < 20
    assert diff.startswith("@@ -1,120000 +1,120000 @@\n-0\n-a0") and len(diff) > DIFF_LIMIT
