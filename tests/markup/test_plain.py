"""A list shows what a text says, without its marks."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.markup import plain


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
