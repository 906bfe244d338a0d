"""The limits of each rule, where one more token or second would give another reason; and the figures kept."""

from dataclasses import replace

import pytest

from sessions_app.prompt.cache_life import CacheFate, FateKind
from sessions_app.prompt.prefix_diff import BreakKind
from sessions_app.prompt.reply import Usage
from sessions_app.prompt.verdict import Comparison, Verdict, VerdictReason
from sessions_app.prompt.verdict_rules import IMPLICIT_LIFE, asked_again, lost_by, verdict_of
from tests.prompt.test_verdict import (
    AFTER_A_BREAK,
    EARLY,
    HIT,
    INLINE,
    MINIMUM,
    OTHER_MODEL,
    SAME,
    missed,
    usage,
)

LIFE = IMPLICIT_LIFE.total_seconds()
R = VerdictReason


def again(kept: int, minimum: int = MINIMUM) -> Verdict:
    """A request back to a model whose last request shares so many estimated tokens of 10,000."""
    first = missed(OTHER_MODEL, minimum=minimum)
    return asked_again(first, INLINE, usage(10_000, 0), replace(SAME, prefix_tokens=kept), None)


def test_what_followed_a_purged_request_keeps_its_counts_and_says_nothing_else() -> None:
    verdict = verdict_of(INLINE, usage(10_000, 8_192), SAME, minimum=MINIMUM, is_purged=True)
    assert verdict == Verdict(R.NOT_COMPARED, None, 8_192, 10_000, MINIMUM)
    assert verdict_of(INLINE, usage(10_000, 0), minimum=None, is_purged=True).minimum == 0


def test_a_paused_answer_that_went_on_is_no_miss_unless_it_named_a_cache() -> None:
    assert verdict_of(INLINE, usage(10_000, 0), SAME, continues=True).reason is R.CONTINUED
    assert verdict_of(INLINE, usage(10_000, 8_192), SAME, continues=True).reason is R.WHOLE_PREFIX
    assert verdict_of(HIT, usage(10_000, 0), SAME, continues=True).reason is R.NAMED_NOT_COUNTED


def test_a_minimum_that_is_not_known_is_kept_as_none_at_all() -> None:
    assert missed(SAME, minimum=None).minimum == 0


@pytest.mark.parametrize(("cached", "reason"), [(8_099, R.PART_OF_PREFIX), (8_100, R.WHOLE_PREFIX)])
def test_nine_tenths_of_an_unchanged_prefix_are_all_of_it(cached: int, reason: VerdictReason) -> None:
    assert verdict_of(INLINE, usage(10_000, cached), SAME).reason is reason


@pytest.mark.parametrize(("kept", "reason"), [(270, R.PART_OF_PREFIX), (269, R.ANOTHERS_PREFIX)])
def test_a_tenth_more_than_the_estimate_is_still_of_the_request_before(
    kept: int, reason: VerdictReason
) -> None:
    seen = replace(AFTER_A_BREAK, prefix_tokens=kept)
    assert verdict_of(INLINE, usage(10_000, 300), seen).reason is reason


@pytest.mark.parametrize(("minimum", "reason"), [(3_000, R.NEAR_MINIMUM), (3_001, R.LAYER_CHANGED)])
def test_a_change_explains_a_miss_where_not_even_a_tenth_more_was_enough(
    minimum: int, reason: VerdictReason
) -> None:
    assert missed(replace(AFTER_A_BREAK, prefix_tokens=2_700), minimum=minimum).reason is reason


@pytest.mark.parametrize(
    ("kind", "source", "reason"),
    [
        (BreakKind.GONE, "panel:todos", R.LAYER_CHANGED),
        (BreakKind.GONE, "turn:a", R.HISTORY_REWRITTEN),
        (BreakKind.SIGNED_OTHERWISE, "turn:a", R.LAYER_CHANGED),
    ],
)
def test_only_turns_that_came_or_went_are_another_history(
    kind: BreakKind, source: str, reason: VerdictReason
) -> None:
    assert missed(replace(AFTER_A_BREAK, broken=replace(EARLY, kind=kind, source=source))).reason is reason


@pytest.mark.parametrize(
    ("seen", "reason"),
    [
        (replace(SAME, was_prompt=MINIMUM - 1), R.EARLIER_TOO_SHORT),
        (replace(SAME, was_prompt=MINIMUM), R.UNEXPLAINED),
        (replace(SAME, was_prompt=None), R.UNEXPLAINED),
        (replace(SAME, was_prompt=None, prefix_tokens=4_000), R.NEAR_MINIMUM),
        (replace(SAME, was_prompt=MINIMUM, prefix_tokens=MINIMUM), R.UNEXPLAINED),
        (replace(SAME, idle_seconds=LIFE), R.UNEXPLAINED),
        (replace(SAME, idle_seconds=LIFE + 0.001), R.TIME_PASSED),
    ],
)
def test_a_limit_itself_is_still_within_it(seen: Comparison, reason: VerdictReason) -> None:
    assert missed(seen).reason is reason


def test_a_prefix_is_the_whole_request_only_where_it_has_all_its_tokens() -> None:
    """As many tokens as the request before had are not all of this one."""
    seen = replace(AFTER_A_BREAK, prefix_tokens=4_300, was_prompt=4_000)
    assert missed(seen).reason is R.NEAR_MINIMUM


@pytest.mark.parametrize(
    ("kept", "minimum", "reason"),
    [
        (5_000, 4_500, R.UNEXPLAINED),
        (5_000, 4_501, R.NEAR_MINIMUM),
        (2_700, 3_000, R.NEAR_MINIMUM),
        (2_700, 3_001, R.OTHER_MODEL),
    ],
)
def test_an_earlier_request_explains_more_from_the_minimum_on(
    kept: int, minimum: int, reason: VerdictReason
) -> None:
    assert again(kept, minimum).reason is reason


def test_without_a_known_minimum_an_earlier_request_explains_nothing() -> None:
    assert again(9_000, minimum=0).reason is R.OTHER_MODEL


def test_the_counts_stay_where_an_earlier_request_explains_more() -> None:
    counted = Usage(prompt=10_000, cached=0, output=7, raw={"promptTokenCount": 10_000})
    verdict = asked_again(missed(OTHER_MODEL), INLINE, counted, SAME, None)
    assert (verdict.cached, verdict.prompt, verdict.minimum) == (0, 10_000, MINIMUM)


@pytest.mark.parametrize("kind", FateKind)
def test_only_an_end_that_is_known_is_kept_with_the_verdict_on_a_cache_that_is_gone(kind: FateKind) -> None:
    fate = CacheFate(kind, "cachedContents/a")
    is_known = kind in (FateKind.EXPIRED, FateKind.DROPPED)
    assert lost_by(fate).fate == (fate if is_known else None)
