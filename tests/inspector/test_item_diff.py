"""The word diff is exact, shortest where it is asked to be, and bounded in time."""

from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.inspector.item_diff import WORD_LIMIT, DiffSegment, compare, differences

tokens = st.lists(st.sampled_from("abc"), max_size=12)
texts = st.text("ab \n.", max_size=60)


def told(old: str, new: str) -> list[tuple[str, str]]:
    return [(piece.change, piece.text) for piece in compare(old, new)]


def sides(pieces: list[DiffSegment]) -> tuple[str, str]:
    old = "".join(piece.text for piece in pieces if piece.change != "new")
    return old, "".join(piece.text for piece in pieces if piece.change != "gone")


@given(texts, texts)
def test_the_pieces_join_to_both_texts(old: str, new: str) -> None:
    assert sides(compare(old, new)) == (old, new)


@given(tokens, tokens)
def test_the_edit_is_the_shortest(old: list[str], new: list[str]) -> None:
    @cache
    def common(at: int, other: int) -> int:
        if at == len(old) or other == len(new):
            return 0
        if old[at] == new[other]:
            return 1 + common(at + 1, other + 1)
        return max(common(at + 1, other), common(at, other + 1))

    edits = sum(len(one.text) for one in differences(old, new, 99) if one.change != "same")
    assert edits == len(old) + len(new) - 2 * common(0, 0)


def test_a_changed_word_is_found_in_its_line() -> None:
    assert told("one\nthe red taxi\ntwo\n", "one\nthe blue taxi\ntwo\n") == [
        ("same", "one\nthe "),
        ("gone", "red "),
        ("new", "blue "),
        ("same", "taxi\ntwo\n"),
    ]


@pytest.mark.parametrize(("old", "new"), [("", ""), ("x", "x")])
def test_equal_texts_have_no_change(old: str, new: str) -> None:
    assert all(piece.change == "same" for piece in compare(old, new))


def test_a_text_that_came_or_went_is_one_piece() -> None:
    assert told("", "a b c") == [("new", "a b c")]
    assert told("a b c", "") == [("gone", "a b c")]


@given(st.lists(st.integers(0, 9), max_size=40), st.lists(st.integers(0, 9), max_size=40))
def test_beyond_the_limit_it_gives_up_but_stays_exact(old: list[int], new: list[int]) -> None:
    pieces = differences([f"{n} " for n in old], [f"{n} " for n in new], 3)
    assert sides(pieces) == ("".join(f"{n} " for n in old), "".join(f"{n} " for n in new))


@pytest.mark.timeout(120)
def test_two_long_texts_with_nothing_in_common_take_no_time() -> None:
    old = "\n".join(f"{n} " + f"a{n} " * 20 for n in range(20_000))
    pieces = compare(old, old.replace("a", "b"))
    assert [piece.change for piece in pieces] == ["gone", "new"]


def test_many_changed_words_of_one_line_are_told_as_one() -> None:
    words = [f"w{n}" for n in range(4 * WORD_LIMIT)]
    pieces = compare(" ".join(words), " ".join(words[::-1]))
    assert sum(piece.change == "gone" for piece in pieces) <= 2


def test_texts_whose_table_would_be_too_large_are_told_as_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    old, new = list("xabcy"), list("zabcw")
    assert [piece.change for piece in differences(old, new, 99)].count("same") == 1
    monkeypatch.setattr("sessions_app.inspector.item_diff.TABLE", 24)
    assert [piece.change for piece in differences(old, new, 99)] == ["gone", "new"]
