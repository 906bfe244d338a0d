"""Two facts kept apart: what our bytes did, what the provider counted."""

from dataclasses import replace
from datetime import timedelta

import pytest

from sessions_app.prompt.breaks import BreakLine, Kind
from sessions_app.prompt.caching import CacheFacts, CachePlan, VerdictCode, plan
from sessions_app.prompt.reply import Usage
from sessions_app.prompt.verdict import IMPLICIT_LIFE, Comparison, Verdict, judge
from tests.prompt.examples import NOW

LIVE = CacheFacts(1024, name="cachedContents/a", expires=NOW + timedelta(hours=1))
HIT = plan(0, LIVE, NOW)
INLINE = CachePlan("none", "", "Too small.", VerdictCode.BELOW_MINIMUM)
MINIMUM = 4_096

SAME = Comparison(7, 9_000, 10_000, was_prompt=9_100, idle=timedelta(minutes=1))
EARLY = BreakLine(2, "changed", "dynamic", "panel:todos", 0, 12, 1, 1, "", "", "")
AFTER_A_BREAK = replace(SAME, prefix_tokens=300, broken=EARLY)


def usage(prompt: int, cached: int) -> Usage:
    return Usage(prompt=prompt, cached=cached, raw={"promptTokenCount": prompt})


def missed(seen: Comparison | None, prompt: int = 10_000, minimum: int | None = MINIMUM) -> Verdict:
    return judge(INLINE, usage(prompt, 0), seen, minimum=minimum)


def turns_gone(kind: Kind) -> Comparison:
    gone = replace(EARLY, kind=kind, layer="buffered", source="turn:a", turn=3)
    return replace(AFTER_A_BREAK, broken=gone)


def test_a_hit_that_the_provider_counts_is_a_hit() -> None:
    verdict = judge(HIT, usage(9000, 8000))
    assert verdict.code == VerdictCode.HIT
    assert "8,000 of 9,000" in verdict.words


def test_a_hit_that_the_provider_does_not_count_is_its_miss() -> None:
    assert judge(HIT, usage(9000, 0), SAME).code == VerdictCode.PROVIDER_MISS


def test_a_cache_that_is_gone_is_expired_whatever_the_count() -> None:
    assert judge(HIT, usage(9000, 5000), cache_gone=True).code == VerdictCode.CACHE_EXPIRED


def test_an_unchanged_prefix_reused_whole_is_a_hit_without_any_cache_of_ours() -> None:
    assert judge(INLINE, usage(10_000, 8_192), SAME).code == VerdictCode.HIT


@pytest.mark.parametrize("seen", [None, SAME, AFTER_A_BREAK])
def test_what_the_provider_reuses_in_part_is_partial(seen: Comparison | None) -> None:
    assert judge(INLINE, usage(10_000, 4_096), seen).code == VerdictCode.PARTIAL


def test_without_usage_nothing_is_claimed() -> None:
    assert judge(HIT, Usage(), SAME).code == VerdictCode.UNKNOWN


@pytest.mark.parametrize(
    ("seen", "code"),
    [
        (None, VerdictCode.FIRST),
        (replace(SAME, same_model=False), VerdictCode.MODEL_CHANGED),
        (replace(SAME, same_config=False), VerdictCode.CONFIG_CHANGED),
        (replace(AFTER_A_BREAK, broken=replace(EARLY, source="tools")), VerdictCode.CONFIG_CHANGED),
        (AFTER_A_BREAK, VerdictCode.LAYER_CHANGED),
        (turns_gone("shortened"), VerdictCode.SHORTENED),
        (turns_gone("appeared"), VerdictCode.SHORTENED),
        (turns_gone("changed"), VerdictCode.LAYER_CHANGED),
        (replace(SAME, idle=IMPLICIT_LIFE + timedelta(minutes=1)), VerdictCode.TTL_LIKELY),
        (replace(SAME, was_prompt=2_000), VerdictCode.BELOW_MINIMUM),
        (SAME, VerdictCode.PROVIDER_MISS),
    ],
)
def test_a_miss_has_one_reason(seen: Comparison | None, code: VerdictCode) -> None:
    assert missed(seen).code == code


def test_below_the_minimum_nothing_could_have_hit() -> None:
    assert missed(AFTER_A_BREAK, prompt=900).code == VerdictCode.BELOW_MINIMUM


def test_a_model_that_is_not_known_to_cache_is_not_blamed() -> None:
    assert missed(SAME, minimum=None).code == VerdictCode.UNSUPPORTED


def test_a_late_break_does_not_explain_that_the_long_prefix_before_it_missed() -> None:
    late = replace(SAME, broken=replace(EARLY, layer="buffered"))
    assert missed(late).code == VerdictCode.PROVIDER_MISS


def test_both_facts_are_said_side_by_side() -> None:
    words = missed(AFTER_A_BREAK).words
    assert "the first 300 tokens (about) are those of exchange 7; they part at panel “todos”" in words
    assert "The provider: 0 of 10,000 tokens cached." in words


def test_going_from_a_miss_to_a_hit_is_no_change_of_ours() -> None:
    assert "all that exchange 7 sent" in judge(HIT, usage(10_000, 8_000), SAME).words
