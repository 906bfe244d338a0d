"""A formula is MathML where all of it is shown, else its source."""

import re
from collections import Counter
from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.markup.tex import mathml

TAG = re.compile(r"<[^>]*>")
WHOLE = (
    r"\frac{a}{b}",
    r"\sqrt[3]{x}",
    r"\sum_{i=1}^n i^2",
    r"\left\{ x \middle| y \right.",
    r"\begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix}",
    r"\begin{array}{c|c} 1 & 2 \end{array}",
    r"f''(x)",
    r"\arg\max_x f(x)",
    r"\operatorname*{arg\,max}_x",
    r"a \not\in B \not= c",
    r"x\!y\,z \hspace{1cm} \quad",
    r"50\% \# \& \_",
    r"\boxed{42}",
    r"\overbrace{a+b}^{n} \xrightarrow{f}",
)
LOST = (
    *(r"\frac{a", r"\frac{a}", r"\frac{a}{b", r"\binom{n}", r"\overset{a}", "{a", "a}", r"\text{ab"),
    *(r"\left( x", r"\left( x \right", r"x \right)", r"\big", r"\operatorname", "x^", "\\"),
    *("a % b", "50%", "a & b", "#", "{}", r"\newcommand{\a}{b} x", r"\mathchoice{a}{b}{c}{d}"),
    *(r"\foo x", r"\ce{H2O}", r"\end{matrix}", r"\begin{foo} a & b \end{foo}", r"\text{a \alpha}"),
    *(r"\begin{pmatrix} {c} & d \end{pmatrix}", r"\hspace{x}", r"\not\left( x", r"\cancel{x}"),
)


def text_of(made: str) -> str:
    return unescape(TAG.sub("", made))


@pytest.mark.parametrize("tex", WHOLE)
def test_what_is_understood_is_mathml(tex: str) -> None:
    assert mathml(tex, display=False) and mathml(tex, display=True)


@pytest.mark.parametrize("tex", LOST)
def test_what_would_lose_a_part_has_no_mathml(tex: str) -> None:
    assert mathml(tex, display=False) is None and mathml(tex, display=True) is None


@pytest.mark.parametrize("tex", [r"a \\ b", r"\begin{gathered} a \\ b \end{gathered}", r"a &= 1 \\ b &= 2"])
def test_each_row_stands_in_its_own_line(tex: str) -> None:
    assert (mathml(tex, display=True) or "").count("<mtr>") == 2


def test_a_distance_of_rows_is_no_text() -> None:
    made = mathml(r"\begin{aligned} a &= b \\[2pt] c &= d \end{aligned}", display=True)
    assert text_of(made or "") == "a=bc=d"


def test_a_row_may_end_with_an_empty_cell() -> None:
    assert text_of(mathml(r"\begin{cases} a & \\ b & \end{cases}", display=True) or "") == "{ab"


def test_marks_in_words_are_the_words_own() -> None:
    made = mathml(r"\text{100\% if a<b & c}", display=False) or ""
    assert text_of(made).replace("\N{NO-BREAK SPACE}", " ") == "100% if a<b & c" and "<b" not in made


PIECES = (
    *("a", "b", "1", "2", "+", "=", "(", ")", "|", "{", "}", "{", "}", "_", "^", "&", r"\\", "%", "[", "]"),
    *(r"\frac", r"\sqrt", r"\left(", r"\right)", r"\text{", r"\mathrm{", r"\overset", r"\binom", r"\hat"),
    *(r"\begin{matrix}", r"\end{matrix}", r"\begin{cases}", r"\end{cases}", r"\sum", r"\limits", r"\big"),
    *(r"\operatorname", r"\not", r"\hspace", r"\color", r"\over", r"\xrightarrow", r"\substack", r"\pmod"),
)
COMMAND = re.compile(r"\\(?:begin|end)\{\w+\}|\\[a-zA-Z]+|\\.")


@given(st.lists(st.sampled_from(PIECES), min_size=1, max_size=8).map(" ".join), st.booleans())
def test_no_letter_and_no_digit_is_lost(tex: str, display: bool) -> None:
    """Of any mixture, also of one that is no TeX: it has MathML with all of them, or none."""
    made = mathml(tex, display=display)
    # A colour and a length are no text.
    if made is not None and r"\color" not in tex and r"\hspace" not in tex:
        wanted = Counter(char for char in COMMAND.sub(" ", tex) if char in "ab12+=(")
        assert not wanted - Counter(text_of(made))
