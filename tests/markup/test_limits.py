"""What is handed to the parser is bounded, and the rest of a text is shown as it was written."""

from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it.utils import EnvType

from sessions_app.markup import blocks, plain, render, scanning, unformatted, weights
from sessions_app.markup.meters import FORMULAS_LIMIT, FORMULAS_TEXT_LIMIT, HIGHLIGHT_LIMIT
from sessions_app.markup.meters import HIGHLIGHT_TEXT_LIMIT as TEXT_HIGHLIGHT_LIMIT
from sessions_app.markup.rendering import CELL_LIMIT, render_with
from sessions_app.markup.scanning import OuterBlock, outer_blocks
from sessions_app.markup.unformatted import PIECE, PIECES, READ_LIMIT
from sessions_app.markup.weights import BLOCK_LIMIT, TEXT_LIMIT, code_weight, weight
from sessions_app.wording.texts import REMARKS
from tests.markup.test_blocks import documents, html_of, split

SIZE = 200_000
KINDS = {
    "list": "- a\n",
    "loose list": "- a\n\n",
    "numbers": "1. a\n",
    "tasks": "- [ ] a\n",
    "nested": "".join("  " * depth + "- a\n" for depth in range(30)),
    "emphasis": "*a* ",
    "openers": "**a _b ",
    "brackets": "[",
    "images": "![",
    "links": "[a](b) ",
    "quotations": "> ",
    "quoted lists": "> - a\n",
    "backticks": "`a ",
    "table": "|a|b|\n|-|-|\n|c|d|\n",
    "formulas": "$x_1^2$ ",
    "address": "<https://example.org/a",
    "tags": "<b>x</b>",
    "lines": "a\n",
    "carriage returns": "a\r",
    "paragraphs": "a\n\n",
    "headings": "# a\n",
    "fences": "```py\na=1\n```\n",
    "letters": "a",
    "blank lines": "\n",
}
TEXTS = {name: unit * (SIZE // len(unit)) for name, unit in KINDS.items()} | {
    "code": "```python\n" + "x = 1\n" * (SIZE // 6),
    "table of short rows": "|a|\n|-|\n" + "a\n" * (SIZE // 2),
}


floods = pytest.mark.parametrize("name", TEXTS)


class Parser:
    """Records what is handed to the parser."""

    def __init__(self) -> None:
        self.scanned: list[str] = []
        self.rendered: list[str] = []

    def outer_blocks(self, text: str) -> list[OuterBlock]:
        self.scanned.append(text)
        return outer_blocks(text)

    def render_with(self, text: str, env: EnvType) -> str:
        self.rendered.append(text)
        return render_with(text, env)


@pytest.fixture
def parser(monkeypatch: pytest.MonkeyPatch) -> Parser:
    found = Parser()
    monkeypatch.setattr(scanning, "outer_blocks", found.outer_blocks)
    monkeypatch.setattr(blocks, "render_with", found.render_with)
    return found


def in_pieces(text: str) -> list[str]:
    return [text[start : start + 200] for start in range(0, len(text), 200)]


@floods
def test_a_flood_in_pieces_is_parsed_within_the_limits_and_in_linear_work(parser: Parser, name: str) -> None:
    text = TEXTS[name]
    streamed = html_of(in_pieces(text))
    for one in parser.scanned:
        assert weight(one) <= BLOCK_LIMIT or (one.startswith("```") and code_weight(one) <= TEXT_LIMIT)
    assert all(code_weight(one) <= TEXT_LIMIT for one in parser.rendered)
    assert sum(map(len, (*parser.scanned, *parser.rendered))) <= 20 * len(text)
    assert streamed == render(text)


@floods
def test_a_flood_at_once_is_parsed_three_times_at_most(parser: Parser, name: str) -> None:
    render(TEXTS[name])
    assert sum(map(code_weight, (*parser.scanned, *parser.rendered))) <= 3 * TEXT_LIMIT


@pytest.mark.parametrize(
    "text",
    [
        "Plain words, one after another, as answers have them; nothing special. " * 280,
        "- **item** of a list, with some words behind it and a `name` at its end.\n" * 275,
        "1. **step** of several, with [a link](https://example.org/page) in it.\n" * 280,
        "| name | value | what it means |\n|---|---|---|\n"
        + "| a name | **1** | what stands in this row, in a few words |\n" * 330,
        "```python\n" + "def name(value: int) -> str: ...\n" * 600 + "```\n",
        "```\n" + "a line of a long file of code\n" * 6_000 + "```\n",
        ("Some words of a paragraph, and *more* of them. " * 10 + "\n\n") * 200,
    ],
    ids=["words", "list", "numbers", "table", "coloured code", "long code", "paragraphs"],
)
def test_a_usual_text_is_formatted_whole(text: str) -> None:
    assert render(text) == render_with(text, {})
    assert html_of(in_pieces(text)) == render(text)


@contextmanager
def small_limits() -> Iterator[None]:
    with (
        patch.multiple(weights, BLOCK_LIMIT=400),
        patch.multiple(scanning, BLOCK_LIMIT=400, TEXT_LIMIT=1_200),
        patch.multiple(blocks, PIECE=7, READ_LIMIT=1_200 + 7 * 4),
        patch.multiple(unformatted, PIECES=3),
    ):
        yield


@settings(deadline=None)
@given(documents, st.lists(st.integers(0, 2_000), max_size=20))
@example("```\n  ```\n\n\n\n\n\n- [x] done\r\n", [])
def test_what_is_too_long_is_the_same_in_pieces(text: str, cuts: list[int]) -> None:
    with small_limits():
        assert html_of(split(text, cuts)) == html_of(text) == render(text)


def test_what_comes_before_the_long_block_is_formatted() -> None:
    html = render("# Title\n\nwords\n\n" + "- <b>\n" * 10_000)
    assert html.startswith("<h3>Title</h3>\n<p>words</p>\n<p ")
    assert html.count(REMARKS["too_long_to_format"]) == 1 and "<li>" not in html
    assert html.count("- &lt;b&gt;\n") == pytest.approx(10_000, abs=PIECES)


def test_of_a_text_without_end_only_the_beginning_is_read_and_shown(parser: Parser) -> None:
    html = render("x" * (READ_LIMIT * 3))
    assert html.count("<span") == PIECES and html.endswith(f"{REMARKS['too_long_to_show']}</p>\n")
    assert parser.rendered == [""]


def test_the_open_text_stays_short_once_it_is_too_long() -> None:
    stream = blocks.Blocks()
    chars = 0
    for delta in in_pieces("- a\n" * 100_000):
        chars += sum(closed.chars for closed in stream.feed(delta))
        assert len(stream.tail) <= BLOCK_LIMIT
    assert len(stream.tail) < PIECE and chars + len(stream.tail) == 400_000


def test_formulas_beyond_the_limits_are_shown_as_written() -> None:
    block = f"${'x' * 995}$ " * 5
    assert FORMULAS_LIMIT == 4_000 and render(block).count("<math") == 4
    assert render(f"{block}\n\n" * 8).count("<math") == FORMULAS_TEXT_LIMIT // 1_000


def test_code_beyond_the_limits_is_not_coloured() -> None:
    fence = "```python\n" + "x = 1\n" * (HIGHLIGHT_LIMIT // 6 - 10) + "```\n\n"
    texts = render(fence * 4).split("<pre")[1:]
    assert ['class="n"' in one for one in texts] == [True, True, False, False]
    assert TEXT_HIGHLIGHT_LIMIT == 2 * HIGHLIGHT_LIMIT


def test_a_table_does_not_grow_by_cells_that_are_not_there() -> None:
    table = "|a" * 100 + "|\n" + "|-" * 100 + "|\n"
    assert render(table + "a\n" * 500).count("<td>") <= CELL_LIMIT + 100


def test_a_line_of_a_flood_takes_its_beginning_only() -> None:
    assert len(plain("[" * 10**6)) <= 2_000


def test_plain_paragraphs_count_towards_the_limit_of_a_text(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each weighs 132: its twelve characters, two ends of lines and a mark."""
    monkeypatch.setattr(scanning, "TEXT_LIMIT", 1_000)
    paragraph, incremental = "word word.\n\n", blocks.Blocks()
    formatted = [closed.chars for _ in range(20) for closed in incremental.feed(paragraph)]
    assert formatted == [len(paragraph)] * 7 and incremental.tail == paragraph * 13


def test_a_line_that_is_still_open_is_weighed_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scanning, "BLOCK_LIMIT", 100)
    incremental = blocks.Blocks()
    assert incremental.feed("*" * 10) == []
    assert [closed.html for closed in incremental.close()] == [unformatted.piece_html(0, "*" * 10)]
