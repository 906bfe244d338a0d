"""What untrusted text becomes, and what it never becomes."""

import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.markup import render
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
