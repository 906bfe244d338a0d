"""The order and the times of panels, and long content in pages: the data of Context Pilot."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.errors import PromptError
from sessions_app.prompt.panels import (
    PAGE_BYTES,
    PAGE_TOKENS,
    Page,
    Panel,
    Stamp,
    content_of,
    digest,
    page_count,
    page_of,
    restamp,
    sorted_panels,
)
from sessions_app.prompt.tokens import estimate
from tests.prompt.examples import NOW


def panel(key: str, minutes: int = 0) -> Panel:
    return Panel(key, key.title(), [], NOW + timedelta(minutes=minutes))


def keys(*panels: Panel) -> list[str]:
    return [each.key for each in sorted_panels(panels)]


def test_the_oldest_change_comes_first() -> None:
    assert keys(panel("a", 3), panel("b", 1), panel("c", 2)) == ["b", "c", "a"]


def test_panels_that_changed_together_have_a_fixed_order() -> None:
    assert keys(panel("zoo"), panel("todos"), panel("ant"), panel("artifacts"), panel("file_references")) == [
        "file_references",
        "artifacts",
        "todos",
        "ant",
        "zoo",
    ]


@pytest.mark.parametrize("twice", ["todos", "current_datetime"])
def test_two_panels_of_one_key_are_refused(twice: str) -> None:
    with pytest.raises(PromptError):
        sorted_panels([panel("todos"), panel(twice)])


@pytest.mark.parametrize(
    ("content", "start", "end"), [(b"", "e3b0c442", "b855"), (b"abc", "ba7816bf", "15ad")]
)
def test_the_hash_of_a_content_is_its_sha256(content: bytes, start: str, end: str) -> None:
    found = digest(content)
    assert len(found) == 64 and found.startswith(start) and found.endswith(end)


@given(st.lists(st.sampled_from(["", "a", "b", "abc"]), max_size=12))
def test_the_time_of_a_panel_moves_if_and_only_if_its_hash_differs(contents: list[str]) -> None:
    stamp: Stamp | None = None
    for minute, content in enumerate(contents):
        now, last = NOW + timedelta(minutes=minute), stamp
        stamp = restamp(last, digest(content.encode()), now)
        assert (stamp.changed == now) == (last is None or last.sha256 != digest(content.encode()))


def test_a_value_that_fits_a_page_is_sent_as_it_is() -> None:
    content = content_of([{"title": "ä"}], page=3)
    assert (content.value, content.page, content.pages) == ([{"title": "ä"}], 1, 1)
    assert content.sha256 == digest('[{"title":"ä"}]'.encode()) and content.tokens == 5


def test_a_long_text_is_sent_a_page_at_a_time() -> None:
    content = content_of("line\n" * 40_000, page=2)
    assert (content.page, content.pages) == (2, 3)
    assert content.value.startswith("[page 2 of 3]\nline\n")


def test_a_long_list_becomes_a_text_with_an_item_per_line() -> None:
    content = content_of([{"id": number, "text": "x" * 90} for number in range(1_000)], page=2)
    assert content.pages == 2
    assert content.value.splitlines()[1].startswith('{"id":') and content.value.endswith("}")


def test_another_page_is_another_content() -> None:
    text = "line\n" * 40_000
    assert content_of(text, 1).sha256 != content_of(text, 2).sha256


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


@pytest.mark.parametrize(
    ("text", "sizes"),
    [
        ("x" * 80_000 + "\n" + "y" * 9_000 + "\n", [89_002]),
        ("x" * 82_499 + "\n" + "y" * 90_000 + "\n", [82_500, 90_001]),
        ("x" * 164_999 + "\n" + "y" * 90_000, [165_000, 82_500, 7_500]),
    ],
    ids=["the last line is over the end", "a line to the end", "a line to the end of two"],
)
def test_no_page_is_empty(text: str, sizes: list[int]) -> None:
    assert [len(page.text) for page in pages_of(text)] == sizes


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
