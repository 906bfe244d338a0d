"""Blocks of code."""

import re

import pytest
from pygments.token import STANDARD_TYPES

from sessions_app.markup import render
from sessions_app.markup.meters import HIGHLIGHT_LIMIT
from tests.conftest import ROOT

SHEETS = ROOT / "static/css"
CSS = (SHEETS / "code.css").read_text()
COLOUR = re.compile(r"--(code-[a-z-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\);")
PALETTE = {name: (light, dark) for name, light, dark in COLOUR.findall((SHEETS / "tokens.css").read_text())}
BACKGROUNDS = {"code-background", "code-inserted-background", "code-deleted-background", "code-border"}


def luminance(colour: str) -> float:
    channels = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    linear = [value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def test_a_fence_has_its_language_and_a_copy_button() -> None:
    html = render("```python\nx\n```")
    assert '<span class="code-language">python</span>' in html
    assert re.search(r'<button [^>]*class="copy"[^>]*>Copy</button>', html)
    assert 'data-copy=""' in html
    assert 'type="button"' in html


def test_known_languages_are_coloured_by_class() -> None:
    html = render("```Python title=x\ndef f(): ...\n```")
    assert '<span class="k">def</span>' in html
    assert "style=" not in html


def test_unknown_languages_are_shown_and_not_coloured() -> None:
    html = render("```klingon\n<a> & b\n```")
    assert "klingon" in html
    assert "<code>&lt;a&gt; &amp; b\n</code>" in html


def test_code_keeps_its_blank_lines() -> None:
    assert "<code>\n\nx\n\n</code>" in render("```\n\n\nx\n\n```")
    coloured = re.sub(r"</?span[^>]*>", "", render("```python\n\n\nx\n\n```"))
    assert "<code>\n\nx\n\n</code>" in coloured


def test_indented_code_is_code() -> None:
    assert '<pre tabindex="0"><code>a\n</code></pre>' in render("    a")


def test_very_long_code_stays_plain() -> None:
    code = "x = 1\n" * (HIGHLIGHT_LIMIT // 6 + 1)
    assert f"<code>{code}</code>" in render(f"```python\n{code}```")


@pytest.mark.parametrize("name", sorted(PALETTE.keys() - BACKGROUNDS))
def test_colours_can_be_read_by_day_and_by_night(name: str) -> None:
    for colour, background in zip(PALETTE[name], PALETTE["code-background"], strict=True):
        assert contrast(colour, background) >= 4.5


def test_every_common_kind_of_token_has_a_colour() -> None:
    for kind in (
        "k",
        "kt",
        "nf",
        "nc",
        "s",
        "s1",
        "s2",
        "se",
        "mi",
        "mf",
        "c",
        "c1",
        "o",
        "nt",
        "na",
        "gi",
        "gd",
    ):
        assert kind in STANDARD_TYPES.values()
        assert re.search(rf"\.{kind}\b", CSS)
