"""The open block: what is shown of it, and what that costs."""

from collections import Counter
from collections.abc import Iterator
from types import ModuleType
from uuid import uuid4

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sessions_app.events import Block, Delta, Open
from sessions_app.markup import Blocks, Closed, Preview, blocks, open_block, render
from tests.markup.test_blocks import documents, html_of, split

LONG = 30_000
WORDS = "words that say what to do there and how "
GROWING = {
    "list": "".join(f"{n}. **Tip {n}** {WORDS * 4}as in [it](http://a/{n})\n" for n in range(1, 200)),
    "bullets": f"- {WORDS * 3}and *more words* of one item\n" * 250,
    "line": f"Some **bold** words and `code` {WORDS}" * 500,
    "lines": f"Some **bold** words and `code` {WORDS * 2}\n" * 300,
    "table": "| a | b |\n|---|---|\n" + f"| **one** {WORDS} | {WORDS * 2} |\n" * 300,
    "quotation": f"> quoted, *some* {WORDS * 3}\n" * 300,
    "code": "```python\n" + "print('hello', 1)\n" * 2_000,
}
"""Blocks that are light enough to be formatted, of at least `LONG` characters."""


@pytest.fixture
def rendered(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """The characters that were rendered, by module: `blocks` or `open_block`."""
    chars: Counter[str] = Counter()

    def count(module: ModuleType, name: str) -> None:
        work = getattr(module, name)

        def counted(text: str, *rest: object) -> object:
            chars[module.__name__.rpartition(".")[2]] += len(text)
            return work(text, *rest)

        monkeypatch.setattr(module, name, counted)

    count(blocks, "render_with")
    count(open_block, "render_with")
    return chars


def stream(text: str, size: int) -> Iterator[Closed | Preview]:
    writing = Blocks()
    for start in range(0, len(text), size):
        yield from writing.feed(text[start : start + size])
        yield from writing.preview()
    yield from writing.close()


def previews(text: str, size: int) -> list[Preview]:
    return [piece for piece in stream(text, size) if isinstance(piece, Preview)]


def shown(text: str, size: int = 7) -> str:
    """The HTML of the newest piece."""
    return previews(text, size)[-1].html


@pytest.mark.parametrize("size", [3, 40, 400])
@pytest.mark.parametrize("kind", GROWING)
def test_a_growing_block_is_rendered_at_most_twice(kind: str, size: int, rendered: Counter[str]) -> None:
    assert previews(GROWING[kind][:LONG], size)
    assert rendered["open_block"] <= rendered["blocks"] == len(GROWING[kind][:LONG])


@pytest.mark.parametrize("size", [3, 40, 400])
@pytest.mark.parametrize("kind", GROWING)
def test_a_growing_block_travels_at_most_twice(kind: str, size: int) -> None:
    text = GROWING[kind][:LONG]
    run, plain, shown = uuid4(), 0, 0
    for piece in stream(text, size):
        seen = {"run": run, "seq": 1, "step": 1, "kind": "text", "html": piece.html, "chars": piece.chars}
        if isinstance(piece, Preview):
            shown += len(Open(**seen, is_settled=piece.is_settled).wire())
        else:
            plain += len(Block(**seen).wire())
    for start in range(0, len(text), size):
        delta = Delta(run=run, seq=1, step=1, kind="text", text=text[start : start + size])
        plain += len(delta.wire())
    assert 0 < shown <= plain


@pytest.mark.parametrize("kind", sorted(set(GROWING) - {"code"}))
def test_a_long_block_is_formatted_to_its_end(kind: str) -> None:
    text = GROWING[kind][:LONG]
    # A single line of that length is parsed again as a whole at its end, so less of it is formatted before.
    least = {"table": 0.8, "line": 0.4}.get(kind, 0.96)
    assert previews(text, 40)[-1].chars > len(text) * least


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("Some **bold words** here and there", "<strong>bold words</strong>"),
        ("Some **bold words that go on", "<strong>bold words"),
        ("- one\n- **two** and more", "<li><strong>two</strong>"),
        ("| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n", "<td>1</td>"),
        ("see [the docs](https://example.org/a) now and then", 'href="https://example.org/a"'),
        ("an area of $x^2$ and so on, you see", "<math"),
    ],
)
def test_open_text_is_formatted(text: str, html: str) -> None:
    assert html in shown(text, 1)


@pytest.mark.parametrize(
    "text", ["A line of some words\n-", "A line of some words\n--", "A line of some words\n="]
)
def test_a_mark_that_may_begin_anything_is_not_shown_yet(text: str) -> None:
    assert "<h" not in "".join(piece.html for piece in previews(text, 1))


def test_half_a_link_shows_its_words() -> None:
    html = shown("read about it in [the docs](https://exa", 1)
    assert "the docs" in html and "https" not in html


def test_code_is_framed_once_and_grows_as_text(rendered: Counter[str]) -> None:
    (frame,) = previews("```python\n" + "x = 1\n" * 100, 5)
    assert 'class="code"' in frame.html and frame.chars == len("```python\n") and not rendered["open_block"]


@given(documents, st.lists(st.integers(0, 2_000), max_size=20))
def test_showing_the_open_block_changes_nothing_that_closes(text: str, cuts: list[int]) -> None:
    writing, closed = Blocks(), list[Closed]()
    for delta in split(text, cuts):
        closed += writing.feed(delta)
        assert all(0 < piece.chars <= len(writing.tail) for piece in writing.preview())
    assert "".join(piece.html for piece in [*closed, *writing.close()]) == html_of([text]) == render(text)


@given(documents)
def test_pieces_advance_through_the_open_text(text: str) -> None:
    """Settled pieces never overlap, and each newer one ends at the same place or later."""
    settled = 0
    for piece in stream(text * 8, 9):
        if isinstance(piece, Closed):
            settled = 0
            continue
        assert piece.chars >= settled
        settled = piece.chars if piece.is_settled else settled


words = st.sampled_from(["word", "two words", ", (and) more:", " ", " 5%", "\n", "it’s"])


@given(st.lists(words, min_size=1))
@example(["word", "word", " ", " ", "\n", "word"])
def test_words_behind_prose_are_shown_as_plain_text(deltas: list[str]) -> None:
    """A page shows the pieces as one paragraph, and in it the text that is behind them as it is."""
    writing, settled, newest, done = Blocks(), "", "", 0
    for delta in ["Plain prose begins here", *deltas]:
        if writing.feed(delta):
            settled, newest, done = "", "", 0
        for piece in writing.preview():
            newest, done = piece.html.removeprefix("<p>").removesuffix("</p>\n"), piece.chars
            if piece.is_settled:
                settled, newest = f"{settled}{newest} ", ""
        shown = f"{settled}{newest}{writing.tail[done:]}"
        assert shown.replace("<br>", "\n").split() == writing.tail.split()


def test_prose_is_shown_once_until_there_is_a_mark() -> None:
    words = "and so on it goes " * 20
    assert len(previews(words, 9)) == 1
    *_, last = previews(words + "with **bold** words", 9)
    assert "<strong>bold</strong>" in last.html


@pytest.mark.parametrize(
    ("rest", "html"),
    [(" see http://example.org/a/b/c now", "href"), (" a *so* b and c", "<em>"), ("\n- one item", "</p>")],
)
def test_a_mark_behind_prose_is_formatted(rest: str, html: str) -> None:
    for size in (1, 2, 7):
        assert html in shown("Some plain words," + rest, size)
