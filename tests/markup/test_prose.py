"""Plain prose: what is taken for it is what the parser makes of it."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sessions_app.markup import rendering, scanning
from sessions_app.markup.prose import paragraph_of
from sessions_app.markup.rendering import PARSER
from sessions_app.markup.sanitising import sanitise

WORDS = (
    "river",
    "1",
    "12.",
    "3)",
    "7.5",
    "@",
    "“Hi”",
    "it’s",
    "a-b",
    "50%",
    "(or)",
    "é",
    "日本",
    "http:",
    "x=y",
)
MARKS = (
    "-",
    "+",
    "=",
    "===",
    "---",
    "#",
    ">",
    "*",
    "_",
    "`",
    "~",
    "[",
    "|",
    "$",
    "&amp;",
    "<b>",
    "\\",
    "\t",
    ":",
)
SPACES = (" ", "  ", "\n", "\n\n", "\n   ", "    ", "\u00a0", "\u2028", "\x0b", "")

texts = st.lists(st.tuples(st.sampled_from(WORDS * 3 + MARKS), st.sampled_from(SPACES)), max_size=8).map(
    lambda pairs: "".join(word + space for word, space in pairs)
)


def parsed(markdown: str) -> str:
    return sanitise(PARSER.render(markdown, {}))


@given(texts | st.text(max_size=20))
@example("Words and words\nand more.\n\n")
@example('He said "no" (or: yes), 50% of it. ')
@example("1986. A year")
@example("1. A list")
@example("one\n1) two")
@example("two spaces  \nbreak the line")
@example("word\n= no\n")
@example("see https://example.org/a")
@example("snake_case_name _so_")
def test_prose_is_what_the_parser_makes_of_it(text: str) -> None:
    prose = paragraph_of(text)
    if prose is not None:
        assert parsed(text) == f"<p>{prose}</p>\n"
        assert scanning.outer_blocks(text) == blocks_of_parser(text)


def blocks_of_parser(text: str) -> list[scanning.OuterBlock]:
    tokens = PARSER.parse(text, {})
    return [
        scanning.OuterBlock(token.type, (token.map[0], token.map[1]), None)
        for token in tokens
        if token.level == 0 and token.nesting >= 0 and token.map
    ]


@pytest.mark.parametrize("text", ["Words and more.", "Two\nlines, “quoted”: 5%\n\n", "@12 cut at a "])
def test_prose_is_not_parsed(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rendering, "PARSER", None)
    monkeypatch.setattr(scanning, "PARSER", None)
    assert rendering.render_with(text, {}) == f"<p>{text.strip()}</p>\n"
    assert len(scanning.outer_blocks(text)) == 1


def test_prose_is_found_in_one_pass() -> None:
    """A long line that ends like no prose must not be tried again from each of its characters."""
    lines = "word " * 200_000 + " \n" + ("word\n" * 200_000)
    assert paragraph_of(lines) is None
