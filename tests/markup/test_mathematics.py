"""Formulas become MathML; money stays money."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.markup import Blocks, render
from sessions_app.markup.meters import FORMULA_LIMIT

prices = st.builds(
    "{}{}{}".format,
    st.sampled_from(("$", "US$", "A$", "-$")),
    st.decimals(0, 10**6, places=2).map(lambda amount: f"{amount:,}".removesuffix(".00")),
    st.sampled_from(("", "k", " million", "/month", "+", "%", ".")),
)
words = st.sampled_from((" to ", " or ", ", ", "-", " and ", " – ", "; then "))


@pytest.mark.parametrize("text", ["$x^2$", r"\(x^2\)", "**$x^2$**", "- $x^2$", "| $x^2$ |\n|---|"])
def test_a_formula_in_text_is_mathml(text: str) -> None:
    assert "<msup><mi>x</mi><mn>2</mn></msup>" in render(text)


@pytest.mark.parametrize("text", ["$$x$$", "$$\nx\n$$", "See\n$$x$$", r"\[x\]", "\\[\nx\n\\]"])
def test_a_formula_of_its_own_is_displayed(text: str) -> None:
    assert '<math display="block">' in render(text)


@given(prices, words, prices)
def test_prices_are_no_formula(first: str, between: str, second: str) -> None:
    assert "<math" not in render(f"It costs {first}{between}{second} here.")


@pytest.mark.parametrize(
    "text",
    [
        "$5/month and 10$",
        "$HOME/bin:$PATH",
        r"\$5\$",
        "`$x$`",
        "$ x $",
        "a $ b $ c",
        "$x\n\ny$",
        "$$x\n\ny$$",
    ],
)
def test_what_only_looks_like_a_formula_is_text(text: str) -> None:
    assert "<math" not in render(text)


@pytest.mark.parametrize("tex", [r"\left(", r"\frac", "{" * 300, r"\sqrt" * 380, "x" * (FORMULA_LIMIT + 1)])
def test_what_cannot_be_read_is_shown_as_written(tex: str) -> None:
    assert f'<code class="tex">${tex}$</code>' in render(f"${tex}$")


@pytest.mark.parametrize(
    "written", [r"$\frac{a$", "$$\n\\frac{a\n$$", r"$$\frac{a$$", r"\(\frac{a\)", "\\[\n\\frac{a\n\\]"]
)
def test_a_source_has_its_delimiters_and_lines(written: str) -> None:
    for text in (written, f"See {written}.", "- " + written.replace("\n", "\n  ")):
        shown = render(text)
        assert f'<code class="tex">{written}</code>' in shown and "<math" not in shown


@pytest.mark.parametrize(
    "written", [r"a $\left( x \right$ b", "$$\n\\big\n$$\n", r"- \(50% of x\)", "$$\\frac{a"]
)
def test_a_source_that_comes_in_pieces_is_the_same_in_the_end(written: str) -> None:
    blocks = Blocks()
    closed = []
    for char in written:
        closed += blocks.feed(char)
        list(blocks.preview())
    assert "".join(one.html for one in [*closed, *blocks.close()]) == render(written)


@pytest.mark.parametrize(
    "tex", [r"\href{javascript:alert(1)}{x}", r"\style{color:red}{x}", r"\text{<img src=x>}"]
)
def test_a_formula_brings_no_address_and_no_style(tex: str) -> None:
    html = render(f"${tex}$")
    assert not any(word in html for word in ("href", "style", "<img", "javascript"))


def test_equations_are_aligned_by_class() -> None:
    html = render("$$\n\\begin{aligned} a &= b \\\\ c &= d \\end{aligned}\n$$")
    assert html.count('class="align-right"') == 2


@given(st.text(alphabet=r"$\()[]{}^_ax1 " + "\n", max_size=60))
def test_any_mixture_of_delimiters_renders(text: str) -> None:
    assert render(text) == render(text)
