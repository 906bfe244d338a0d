"""The Markdown that is understood."""

import time

import pytest

from sessions_app.markup import render
from sessions_app.markup.parsing import BRACKET_LIMIT


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("# a", "<h3>a</h3>\n"),
        ("###### a", "<h6>a</h6>\n"),
        ("*a* **b** ~~c~~ `d`", "<p><em>a</em> <strong>b</strong> <s>c</s> <code>d</code></p>\n"),
        ("a  \nb", "<p>a<br>\nb</p>\n"),
        ("3. a\n4. b", '<ol start="3">\n<li>a</li>\n<li>b</li>\n</ol>\n'),
        ("> a", "<blockquote>\n<p>a</p>\n</blockquote>\n"),
        ("it costs $5 to $10", "<p>it costs $5 to $10</p>\n"),
        ("see https://example.org", "<p>see https://example.org</p>\n"),
    ],
)
def test_it_renders(text: str, html: str) -> None:
    assert render(text) == html


def test_a_table_can_scroll_and_aligns_by_class() -> None:
    html = render("| a | b |\n|--:|---|\n| 1 | 2 |")
    assert html.startswith('<div class="table" tabindex="0"><table>')
    assert '<td class="align-right">1</td>' in html
    assert "style=" not in html


def test_a_task_is_a_box_nobody_can_tick() -> None:
    html = render("- [x] done\n- [ ] open")
    assert html.count('type="checkbox"') == html.count('disabled=""') == 2
    assert html.count('checked="') == 1
    assert html.count('aria-label="task"') == 2


def test_a_flood_of_brackets_is_text_and_takes_no_time() -> None:
    started = time.perf_counter()
    html = render("![" * 50_000)
    assert html == f"<p>{'![' * 50_000}</p>\n"
    assert time.perf_counter() - started < 2


def test_many_links_below_the_limit_are_links() -> None:
    assert render("[a](https://example.org)" * BRACKET_LIMIT).count("<a ") == BRACKET_LIMIT


def test_deep_quotations_end_somewhere() -> None:
    assert render(">" * 5_000 + " a").count("<blockquote>") <= 40
