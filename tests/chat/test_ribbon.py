"""The ribbon is exact: pieces touch, fill the width, and are cut where the cache ends."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.chat.ribbon import WIDTH, Ribbon

COUNTS = st.fixed_dictionaries(
    {layer: st.integers(0, 1_000_000) for layer in ("static", "dynamic", "buffered", "trigger")}
)


def test_a_cache_that_ends_inside_a_layer_cuts_it() -> None:
    pieces = Ribbon({"static": 50, "dynamic": 50}, prompt=100, cached=75).pieces
    assert [(piece.layer, piece.width, piece.is_cached) for piece in pieces] == [
        ("static", 500, True),
        ("dynamic", 250, True),
        ("dynamic", 250, False),
    ]


def test_nothing_sent_draws_nothing() -> None:
    assert Ribbon({"static": 0}, prompt=0, cached=0).pieces == ()


def test_the_words_have_every_number() -> None:
    words = Ribbon({"static": 1200, "trigger": 4}, prompt=1300, cached=1024).words
    assert words == "Tokens per layer: static 1,200, trigger 4; 1,024 of 1,300 came from a cache"


@given(COUNTS, st.integers(0, 4_000_000), st.integers(0, 4_000_000))
def test_pieces_fill_the_ribbon_without_gaps(tokens: dict[str, int], prompt: int, cached: int) -> None:
    pieces = Ribbon(tokens, prompt, cached).pieces
    if not sum(tokens.values()):
        return
    assert sum(piece.width for piece in pieces) == pytest.approx(WIDTH, abs=1)
    assert [piece.is_cached for piece in pieces] == sorted(
        (piece.is_cached for piece in pieces), reverse=True
    )
