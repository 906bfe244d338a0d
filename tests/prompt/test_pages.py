"""Long content in pages: the data of Context Pilot, and the law that pages are the text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.prompt.pages import PAGE_BYTES, PAGE_TOKENS, Page, page_count, page_of
from sessions_app.prompt.tokens import estimate


def lines(count: int, size: int = 100) -> str:
    return "".join(f"{number:0{size - 1}}\n" for number in range(count))


def pages_of(text: str) -> list[Page]:
    first = page_of(text, 1)
    return [first, *(page_of(text, number) for number in range(2, first.count + 1))]


@pytest.mark.parametrize(
    ("tokens", "pages"), [(0, 1), (25_000, 1), (25_001, 2), (50_000, 2), (50_001, 3), (1, 1)]
)
def test_a_page_has_25_000_tokens(tokens: int, pages: int) -> None:
    assert page_count(tokens) == pages


def test_a_page_in_bytes_is_a_page_in_tokens() -> None:
    assert estimate("x" * PAGE_BYTES) == PAGE_TOKENS and estimate("x" * (PAGE_BYTES + 1)) == PAGE_TOKENS + 1


def test_a_short_text_is_its_only_page_and_has_no_banner() -> None:
    page = page_of("one\ntwo", 7)
    assert (page.text, page.number, page.count, page.shown) == ("one\ntwo", 1, 1, "one\ntwo")


def test_both_ends_of_a_page_move_to_after_the_next_newline() -> None:
    text = lines(2_000, 101)
    first, second, third = pages_of(text)
    assert len(first.text) == 101 * 817 and first.text.endswith("\n")
    assert second.text == text[101 * 817 : 101 * 1634] and third.text == text[101 * 1634 :]


def test_a_page_of_several_says_which_it_is_in_one_line() -> None:
    assert page_of(lines(2_000), 2).shown.splitlines()[0] == "[page 2 of 3]"


@pytest.mark.parametrize(("asked", "shown"), [(0, 1), (-5, 1), (2, 2), (4, 3), (10**9, 3)])
def test_a_page_that_does_not_exist_is_the_nearest_that_does(asked: int, shown: int) -> None:
    assert page_of(lines(2_000), asked).number == shown


def test_one_line_of_megabytes_is_many_pages() -> None:
    pages = pages_of("ä€😀" * 100_000)
    assert "".join(page.text for page in pages) == "ä€😀" * 100_000
    assert max(len(page.text.encode()) for page in pages) <= PAGE_BYTES + 4


@given(
    st.lists(
        st.tuples(st.sampled_from(["x", "é\n", "\n", "語", "a\r\n"]), st.integers(1, 40_000)), max_size=8
    )
)
def test_the_pages_together_are_the_text(pieces: list[tuple[str, int]]) -> None:
    text = "".join(piece * count for piece, count in pieces)
    pages = pages_of(text)
    assert "".join(page.text for page in pages) == text
    assert all(len(page.text.encode()) <= 2 * PAGE_BYTES for page in pages)
