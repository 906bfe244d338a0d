"""Cells with long words and with many words are marked for the style sheet."""

import pytest

from sessions_app.markup import Blocks, render
from sessions_app.markup.tables import LONG_WORD

ADDRESS = "https://example.org/" + "a" * 280


def table(head: str, cell: str) -> str:
    return f"| {head} | b |\n|---|:--|\n| {cell} | 2 |"


@pytest.mark.parametrize(
    "cell", [ADDRESS, f"[{ADDRESS}](https://example.org)", f"`{ADDRESS}`", f"See **{ADDRESS}**."]
)
def test_a_cell_with_a_long_word_is_marked(cell: str) -> None:
    html = render(table("a", cell))
    assert '<td class="long">' in html and html.count('class="long"') == 1


def test_a_long_word_in_a_header_is_marked() -> None:
    assert '<th class="long">' in render(table("a" * LONG_WORD, "1"))


def test_a_mark_stands_beside_the_alignment() -> None:
    html = render(f"| a |\n|--:|\n| {ADDRESS} |")
    assert '<td class="align-right long">' in html


def test_a_cell_of_many_words_is_marked() -> None:
    html = render(table("a", "some words that need a line of their own"))
    assert '<td class="words">' in html and "long" not in html


def test_one_cell_of_a_column_makes_room_for_all_of_them() -> None:
    words = "some words that need a line of their own"
    rows = f"| 1 | {words} |\n| {words} | {words} |\n| {words} | 2 |"
    html = render(f"| a | b |\n|---|---|\n{rows}\n\nEnd.\n\n{table('a', words)}")
    cells = [line for line in html.splitlines() if line.startswith("<td")]
    assert [line.startswith('<td class="words">') for line in cells] == [
        *(False, True, True, False, False, False),
        *(True, False),
    ]


@pytest.mark.parametrize("cell", ["1", "two words", f"[here]({ADDRESS})"])
def test_a_short_cell_is_not_marked(cell: str) -> None:
    html = render(table("a", cell))
    assert 'class="long"' not in html and 'class="words"' not in html


def test_a_line_of_chinese_is_no_long_word() -> None:
    assert '<td class="words">' in render(table("a", "字" * 60))


def test_a_table_in_a_list_is_marked_too() -> None:
    assert '<td class="long">' in render("- One\n\n  " + table("a", ADDRESS).replace("\n", "\n  "))


def test_a_table_that_comes_in_pieces_is_marked_the_same() -> None:
    text = table("a", ADDRESS) + "\n\nEnd."
    blocks = Blocks()
    closed = [one for char in text for one in blocks.feed(char)]
    assert "".join(one.html for one in [*closed, *blocks.close()]) == render(text)
