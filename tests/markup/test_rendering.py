"""What untrusted text becomes, and what it never becomes; the Markdown that is understood; the plain line."""

import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.markup import plain, render
from sessions_app.markup.rendering import BRACKET_LIMIT
from sessions_app.markup.sanitising import ATTRIBUTES, FORCED, TAGS

PIXEL = "data:image/png;base64,iVBORw0KGgo="

HOSTILE = (
    "<script>alert(1)</script>",
    "<SCRIPT SRC=//example.org/x.js></SCRIPT>",
    '<img src=x onerror="alert(1)">',
    '<svg onload="alert(1)"><script>alert(1)</script></svg>',
    "<style>body{display:none}</style>",
    '<p style="position:fixed">x</p>',
    "<iframe src=javascript:alert(1)></iframe>",
    '<a href="javascript:alert(1)">x</a>',
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1))",
    "[x](java&#10;script:alert(1))",
    "[x](&#106;avascript:alert(1))",
    "[x](vbscript:msgbox(1))",
    "[x](data:text/html;base64,PHNjcmlwdD4=)",
    "[x](data:image/png;base64,AAAA)",
    "[x](file:///etc/hosts)",
    "[x](//example.org/protocol-relative)",
    "[x](/logout)",
    "![x](javascript:alert(1))",
    "![x](data:image/svg+xml;base64,PHN2Zz4=)",
    "![x](data:text/html,hello)",
    '![x" onerror="alert(1)](https://example.org/a.png)',
    '[x](https://example.org "a\\" onmouseover=alert(1)")',
    "<javascript:alert(1)>",
    "```html\n<script>alert(1)</script>\n```",
    '```" onclick="alert(1)\ncode\n```',
    "    <script>alert(1)</script>",
    "| <img src=x onerror=alert(1)> |\n|---|\n| <script> |",
    "- [x] <input type=image src=x onerror=alert(1)>",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "<!--><script>alert(1)</script>-->",
    "<math><mtext></mtext><style><img src onerror=alert(1)></style></math>",
    "a\0b<scr\0ipt>alert(1)</script>",
    "\ud800<script>\udfff",
)


class Inspection(HTMLParser):
    """Every tag and attribute a browser would see."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.seen: list[tuple[str, dict[str, str | None]]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))


def assert_harmless(html: str) -> None:
    for tag, attributes in Inspection(html).seen:
        assert tag in TAGS
        assert set(attributes) <= ATTRIBUTES.get(tag, set()) | set(FORCED.get(tag, {})) | {"rel"}
        assert re.match(r"https?:|mailto:|$", attributes.get("href") or "")
        assert re.match(r"data:image/(png|gif|jpeg|webp);base64,|$", attributes.get("src") or "")
    html.encode()


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_harmless(text: str) -> None:
    assert_harmless(render(text))


@given(st.lists(st.sampled_from(HOSTILE) | st.text(max_size=20), max_size=6).map("".join))
def test_mixtures_are_harmless(text: str) -> None:
    assert_harmless(render(text))


def test_raw_html_is_shown_as_text() -> None:
    assert render("<b>x</b>") == "<p>&lt;b&gt;x&lt;/b&gt;</p>\n"


def test_links_open_elsewhere_and_vouch_for_nothing() -> None:
    ((_, link),) = Inspection(render("[x](https://example.org)")).seen[1:]
    assert link == {"href": "https://example.org", "rel": "noopener nofollow ugc", "target": "_blank"}


def test_a_remote_image_becomes_a_link() -> None:
    html = render("![a cat](https://example.org/cat.png)")
    assert "<img" not in html
    assert 'href="https://example.org/cat.png"' in html
    assert ">a cat</a>" in html


def test_a_remote_image_without_words_shows_its_address() -> None:
    assert ">https://example.org/cat.png</a>" in render("![](https://example.org/cat.png)")


def test_a_remote_image_inside_a_link_leaves_one_link() -> None:
    assert render("[![cat](https://example.org/c.png)](https://example.org)").count("<a ") == 1


def test_an_inline_picture_is_shown() -> None:
    ((_, image),) = Inspection(render(f"![dot]({PIXEL})")).seen[1:]
    assert image == {"src": PIXEL, "alt": "dot"}


def test_a_nul_and_half_a_character_are_replaced() -> None:
    assert render("a\0b\ud83dc") == "<p>a�b�c</p>\n"


def test_characters_that_only_look_special_are_kept() -> None:
    assert render("🙂 1 < 2 & “ü”") == "<p>🙂 1 &lt; 2 &amp; “ü”</p>\n"


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


def test_a_flood_of_brackets_is_text() -> None:
    html = render("![" * 3_000)
    assert html == f"<p>{'![' * 3_000}</p>\n"


def test_many_links_below_the_limit_are_links() -> None:
    assert render("[a](mailto:b)" * BRACKET_LIMIT).count("<a ") == BRACKET_LIMIT


def test_deep_quotations_end_somewhere() -> None:
    assert render(">" * 5_000 + " a").count("<blockquote>") <= 40


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("**Bold** and *soft* and `code`", "Bold and soft and code"),
        ("## Heading\n\ntext", "Heading text"),
        ("- one\n- [x] two\n3. three", "one two three"),
        ("> quoted", "quoted"),
        ("[words](https://example.org) and ![a picture](x.png)", "words and a picture"),
        ("```python\nprint(1)\n```", "print(1)"),
        ("| a | b |\n|---|---|\n| 1 | 2 |", "| a b | | 1 2 |"),
        ("snake_case and 2 * 3 * 4", "snake_case and 2 * 3 * 4"),
        ("7*8, 2**8 and a~~b", "7*8, 2**8 and a~~b"),
        ("***all*** of **`code`**, (*this*)!", "all of code, (this)!"),
        ("<b>stays</b>", "<b>stays</b>"),
    ],
)
def test_marks_go_and_words_stay(text: str, shown: str) -> None:
    assert plain(text) == shown


@given(st.text(alphabet="ab *_`#[]()>|-\n~", max_size=80))
def test_it_never_adds_anything(text: str) -> None:
    assert len(plain(text)) <= len(text) and "\n" not in plain(text)


@given(st.lists(st.text(alphabet="abcé", min_size=1), max_size=8))
def test_plain_words_are_left_alone(words: list[str]) -> None:
    assert plain(" ".join(words)) == " ".join(words)


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("see https://example.org/a_b_c.", "https://example.org/a_b_c"),
        ("(at http://example.org/d)", "http://example.org/d"),
        ("https://example.org/a_(b), then", "https://example.org/a_(b)"),
        ("**https://example.org/x**", "https://example.org/x"),
    ],
)
def test_an_address_without_brackets_is_a_link(text: str, address: str) -> None:
    assert f'<a href="{address}"' in render(text) and f">{address}</a>" in render(text)


@pytest.mark.parametrize(
    "text", ["`https://example.org`", "javascript://example.org", "https://", "xhttps://a.b"]
)
def test_other_text_is_no_link(text: str) -> None:
    assert "<a " not in render(text)


def test_an_address_in_a_link_stays_one_link() -> None:
    assert render("[https://example.org](https://example.net)").count("<a ") == 1
