"""Blocks that close while the text is still being written."""

from collections.abc import Iterable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.markup import Blocks, Closed, render

LINES = (
    "",
    "",
    "plain words",
    "with *emphasis* and `code`",
    "# heading",
    "## another",
    "---",
    "===",
    "- item",
    "- [x] done",
    "* star",
    "  continued",
    "    four spaces",
    "1. first",
    "2) second",
    "> quoted",
    "> - list in a quotation",
    "```",
    "```python",
    "~~~~",
    "  ```",
    "| a | b |",
    "|---|:-:|",
    "| 1 | 2 |",
    "\tafter a tab",
    "<b>raw</b>",
    "🙂 pay $5 to $10",
    "$$",
    "$$x$$",
    "a $x$ and \\[",
    "y \\]",
    "noted[^1] and [^a-z]",
    "[^1]: a note",
    "[^2]: - another",
)
ENDINGS = ("\n", "\r\n", "\r")

documents = st.lists(st.tuples(st.sampled_from(LINES), st.sampled_from(ENDINGS)), max_size=25).map(
    lambda lines: "".join(line + ending for line, ending in lines)
)


def split(text: str, cuts: Iterable[int]) -> list[str]:
    places = [0, *sorted(cut % (len(text) + 1) for cut in cuts), len(text)]
    return [text[start:end] for start, end in pairwise(places)]


def pieces(deltas: Iterable[str]) -> tuple[list[Closed], Blocks]:
    blocks = Blocks()
    closed = [piece for delta in deltas for piece in blocks.feed(delta)]
    return closed + blocks.close(), blocks


def html_of(deltas: Iterable[str]) -> str:
    return "".join(piece.html for piece in pieces(deltas)[0])


@given(documents, st.lists(st.integers(0, 2_000), max_size=20))
def test_the_pieces_are_the_whole_rendering(text: str, cuts: list[int]) -> None:
    assert html_of(split(text, cuts)) == render(text)


@given(documents)
def test_letter_by_letter_makes_no_difference(text: str) -> None:
    assert html_of(text) == render(text)


@given(st.text(alphabet=st.characters(exclude_characters="[")), st.lists(st.integers(0, 200)))
def test_any_text_renders_the_same_in_pieces(text: str, cuts: list[int]) -> None:
    assert html_of(split(text, cuts)) == render(text)


@given(documents, st.lists(st.integers(0, 2_000), max_size=20))
def test_closed_and_open_text_together_are_the_text(text: str, cuts: list[int]) -> None:
    closed, blocks = pieces(split(text, cuts))
    assert sum(piece.chars for piece in closed) + len(blocks.tail) == len(text)
    assert not blocks.tail.strip(" \t\r\n")


@pytest.mark.parametrize(
    ("text", "open_text"),
    [
        ("# title\n", ""),
        ("---\n", ""),
        ("title\n---\n", ""),
        ("```\ncode\n```\n", ""),
        ("paragraph\n\n", ""),
        ("> quoted\n\n", ""),
        ("| a |\n|---|\n\n", ""),
        ("paragraph\n", "paragraph\n"),
        ("- item\n\n", "- item\n\n"),
        ("- item\n\nnext\n", "next\n"),
        ("    code\n\n", "    code\n\n"),
        ("# title", "# title"),
        ("one\n# two\nthr", "thr"),
    ],
)
def test_a_block_closes_when_nothing_can_change_it(text: str, open_text: str) -> None:
    blocks = Blocks()
    blocks.feed(text)
    assert blocks.tail == open_text


def test_an_open_fence_stays_text_until_it_ends() -> None:
    blocks = Blocks()
    assert blocks.feed("```python\nx = 1\n\n# not a heading\n") == []
    (closed,) = blocks.feed("```\n")
    assert closed.html.count("<pre") == 1
    assert blocks.tail == ""


def test_a_fence_that_opens_in_the_middle_is_found() -> None:
    blocks = Blocks()
    assert blocks.feed("words\n\n````\n```\n")[0].chars == len("words\n\n")
    assert blocks.feed("more\n") == []
    assert blocks.feed("````\n")[0].chars == len("````\n```\nmore\n````\n")


def test_a_list_stays_loose_over_the_cut() -> None:
    assert html_of(["- one\n", "\n", "- two\n", "\nend\n"]).count("<p>") == 3


def test_a_definition_before_its_link_is_known() -> None:
    assert 'href="https://example.org/"' in html_of(["[a]: https://example.org/\n\n", "see [a]\n\n"])


def test_a_definition_after_its_link_is_the_known_exception() -> None:
    assert "<a" not in html_of(["see [a]\n\n", "[a]: https://example.org/\n"])


def test_an_emoji_counts_as_one_character() -> None:
    (closed,) = Blocks().feed("🙂 # no\n\n")
    assert closed.chars == len("🙂 # no\n\n") == 8


def test_a_carriage_return_waits_for_its_line_feed() -> None:
    blocks = Blocks()
    assert blocks.feed("# title\r") == []
    assert blocks.feed("\n")[0].chars == len("# title\r\n")


def test_a_lone_surrogate_is_replaced() -> None:
    assert "�" in html_of(["a\ud800b\n\n"])


def test_nothing_makes_nothing() -> None:
    assert pieces(["", "\n", " \n"])[0] == []
