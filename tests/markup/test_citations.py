"""The marks of sources in a text: where they stand, and where none can."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.markup import Mark, render
from tests.markup.test_blocks import documents


def cited(text: str, *ends: str) -> str:
    """The text with a mark behind each of these words, as `¹`, `²`…; other tags are left out."""
    marks: list[Mark] = [(text.index(end) + len(end), [number]) for number, end in enumerate(ends, 1)]
    html = render(text, "a-", sorted(marks, key=lambda mark: mark[0]))
    html = re.sub(r'<sup class="cited"><a href="#a-source-(\d)".*?</sup>', r"^\1", html)
    return " ".join(re.sub(r"<[^>]*>", "", html).split())


@pytest.mark.parametrize(
    ("text", "end", "shown"),
    [
        ("One. Two.", "One.", "One.^1 Two."),
        ("It is **bold**.", "bold", "It is bold^1."),
        ("**It is.** More", "It is.**", "It is.^1 More"),
        ("See [here](http://a.b/c) now", "her", "See here^1 now"),
        ("See [here](http://a.b/c) now", "http://a", "See here now"),
        ("See https://a.b/c now", "b/c", "See https://a.b/c^1 now"),
        ("Say `code` now", "cod", "Say code now"),
        ("Say `code` now", "code", "Say code^1 now"),
        ("- one\n- two\n", "one\n", "one^1 two"),
        ("| a |\n|---|\n| b |\n", "| b |", "a b^1 Copy table"),
    ],
)
def test_a_mark_stands_behind_the_words(text: str, end: str, shown: str) -> None:
    assert cited(text, end) == shown


@pytest.mark.parametrize("text", ["```\nx = 1\n```\n", "$$\nx^2\n$$\n", "a\n\n---\n\nb", "    code\n"])
def test_no_mark_breaks_what_is_no_text(text: str) -> None:
    for end in range(len(text) + 1):
        html = render(text, "a-", [(end, [1])])
        assert re.sub(r'<sup class="cited">.*?</sup>', "", html) == render(text)


@given(documents, st.lists(st.integers(0, 300), max_size=5))
def test_marks_leave_no_trace_of_themselves(text: str, ends: list[int]) -> None:
    html = render(text, "a-", [(min(end, len(text)), [1]) for end in sorted(ends)])
    assert "⸨" not in html and "%E2%B8%A8" not in html


def test_brackets_of_the_text_are_text() -> None:
    assert cited("Rare ⸨0:0⸩ brackets. More", "brackets.") == "Rare ⸨0:0⸩ brackets.^1 More"


def test_several_sources_of_a_place_stand_side_by_side() -> None:
    html = render("One.", "a-", [(4, [1, 3])])
    assert re.findall(r'href="#(a-source-\d)"', html) == ["a-source-1", "a-source-3"]
