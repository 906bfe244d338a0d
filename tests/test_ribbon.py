from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.ribbon import make_ribbon

TOKENS = {"static": 600, "dynamic": 200, "buffered": 150, "trigger": 50}
counts = st.dictionaries(st.sampled_from(list(TOKENS)), st.integers(0, 10**6))


def cached_of(prompt: int | None, cached: int | None, *, is_named: bool = False) -> list[float]:
    ribbon = make_ribbon(TOKENS, prompt=prompt, cached=cached, is_named=is_named)
    return [band.cached / band.tokens for band in ribbon.bands]


def test_a_named_cache_makes_the_static_layer_solid() -> None:
    assert cached_of(1000, 700, is_named=True) == [1, 0, 0, 0]


def test_any_other_hit_covers_a_prefix() -> None:
    assert cached_of(1000, 700) == [1, 0.5, 0, 0]


@pytest.mark.parametrize(("prompt", "cached"), [(None, None), (1000, 0), (1000, None)])
def test_nothing_is_solid_without_a_hit(prompt: int | None, cached: int | None) -> None:
    assert cached_of(prompt, cached) == [0, 0, 0, 0]


@given(counts, st.integers(0, 10**6), st.integers(0, 10**6), st.booleans())
def test_the_bands_fill_the_bar_and_cached_never_exceeds_its_band(
    tokens: dict[str, int], prompt: int, cached: int, is_named: bool
) -> None:
    bands = make_ribbon(tokens, prompt=prompt, cached=cached, is_named=is_named).bands
    assert all(0 <= band.cached <= band.tokens for band in bands)
    assert not bands or sum(band.width for band in bands) == pytest.approx(100, abs=0.01)


def test_solid_comes_before_hatched_and_layers_do_not_touch() -> None:
    bars = make_ribbon(TOKENS, prompt=1000, cached=700, is_named=False).bars
    assert [fill for fill, _, _ in bars] == [
        "var(--layer-static)",
        "var(--layer-dynamic)",
        "url(#hatch-dynamic)",
        "url(#hatch-buffered)",
        "url(#hatch-trigger)",
    ]
    ends = [round(x + width, 3) for _, x, width in bars]
    assert ends == [59.6, 70, 79.6, 94.6, 100]


@given(counts, st.integers(0, 10**6), st.integers(0, 10**6))
def test_what_is_drawn_never_overlaps(tokens: dict[str, int], prompt: int, cached: int) -> None:
    bars = make_ribbon(tokens, prompt=prompt, cached=cached, is_named=False).bars
    assert all(left[1] + left[2] <= right[1] + 0.002 for left, right in pairwise(bars))


def test_the_ribbon_is_also_told_in_words() -> None:
    description = make_ribbon(TOKENS, prompt=1300, cached=700, is_named=True).description
    assert "static 600, 100 % cached; dynamic 200; buffered 150; trigger 50" in description
    assert description.endswith("; 700 of 1,300 came from a cache")


def test_a_layer_of_which_a_little_was_read_anew_is_not_called_all_cached() -> None:
    description = make_ribbon(TOKENS, prompt=1000, cached=598, is_named=False).description
    assert "static 600, 99 % cached;" in description


def test_one_token_of_many_that_was_read_anew_is_enough_for_99_percent() -> None:
    description = make_ribbon({"static": 20_000}, prompt=20_000, cached=19_999, is_named=False).description
    assert "static 20,000, 99 % cached;" in description


def test_what_was_not_counted_is_not_called_zero() -> None:
    """Nor is a count announced: of a request that failed none will come."""
    told = make_ribbon(TOKENS, prompt=None, cached=None, is_named=False).cached_label
    assert told == "the provider has counted nothing"


def test_nothing_sent_draws_nothing_and_says_so() -> None:
    ribbon = make_ribbon({}, prompt=None, cached=None, is_named=False)
    assert (ribbon.bands, ribbon.description) == ((), "Nothing was sent")
