"""What a page shows of a provider's message, and the tree of exceptions in the docstring of the package."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app import errors
from sessions_app.errors import EXCERPT_LIMIT, excerpt

words = st.text(st.sampled_from("ab. 2e.g.\n…"), max_size=60)


@pytest.mark.parametrize("message", ["e.g. this", "In the 2. block. Or the 3.", "Why? So!", " a\nb "])
def test_what_fits_is_shown_whole(message: str) -> None:
    assert excerpt(message) == message.strip()


@given(words, st.integers(2, 70))
def test_it_is_whole_or_ends_at_a_space_with_an_ellipsis(message: str, limit: int) -> None:
    shown, whole = excerpt(message, limit), message.strip()
    assert len(shown) <= limit
    if shown == whole:
        return
    kept = shown.removesuffix("…")
    assert shown.endswith("…") and whole.startswith(kept) and len(whole) > limit
    assert whole[len(kept)].isspace() or not any(letter.isspace() for letter in whole[: limit - 1])


@given(words)
def test_nothing_shorter_than_the_limit_is_cut(message: str) -> None:
    assert excerpt(message, max(2, len(message))) == message.strip()


def test_a_word_without_end_is_cut_all_the_same() -> None:
    assert len(excerpt("x" * 1_000)) == EXCERPT_LIMIT


def test_every_exception_stands_in_the_tree_below_one_of_its_bases() -> None:
    classes = {name: found for name in errors.__all__ if isinstance(found := getattr(errors, name), type)}
    path: list[type] = [errors.PipewebError]
    seen = {"PipewebError"}
    for indent, name in re.findall(r"^ {4}([│ ]*)[├└]── (\w+)", errors.__doc__ or "", re.M):
        depth = len(indent) // 4 + 1
        assert issubclass(classes[name], path[depth - 1]), name
        path[depth:] = [classes[name]]
        seen.add(name)
    assert seen == set(classes)
