"""Two facts kept apart: what our bytes did, what the provider counted."""

from dataclasses import replace
from datetime import timedelta

import orjson
import pytest

from sessions_app.prompt.caching import (
    CacheAction,
    CacheFacts,
    CachePlan,
    PlanReason,
    VerdictCode,
    plan_cache,
)
from sessions_app.prompt.prefix_diff import BreakKind, BreakLine
from sessions_app.prompt.reply import Usage
from sessions_app.prompt.verdict import (
    CODES,
    IMPLICIT_LIFE,
    MEANINGS,
    Comparison,
    Verdict,
    VerdictReason,
    verdict_of,
)
from tests.prompt.examples import NOW

LIVE = CacheFacts(1024, name="cachedContents/a", expires=NOW + timedelta(hours=1))
HIT = plan_cache(0, LIVE, NOW)
INLINE = CachePlan(CacheAction.NONE, "", PlanReason.TOO_SMALL)
MINIMUM = 4_096

SAME = Comparison(7, 9_000, 10_000, was_prompt=9_100, idle_seconds=60)
EARLY = BreakLine(BreakKind.CHANGED, "dynamic", "panel:todos", 0, None, "", "", "")
AFTER_A_BREAK = replace(SAME, prefix_tokens=300, broken=EARLY)


def usage(prompt: int, cached: int) -> Usage:
    return Usage(prompt=prompt, cached=cached, raw={"promptTokenCount": prompt})


def missed(seen: Comparison | None, prompt: int = 10_000, minimum: int | None = MINIMUM) -> Verdict:
    return verdict_of(INLINE, usage(prompt, 0), seen, minimum=minimum)


def turns_gone(kind: BreakKind) -> Comparison:
    gone = replace(EARLY, kind=kind, layer="buffered", source="turn:a", number=3)
    return replace(AFTER_A_BREAK, broken=gone)


def test_a_hit_that_the_provider_counts_is_a_hit() -> None:
    verdict = verdict_of(HIT, usage(9000, 8000))
    assert (verdict.code, verdict.reason) == (VerdictCode.HIT, VerdictReason.NAMED)
    assert (verdict.cached, verdict.prompt) == (8_000, 9_000)


def test_a_hit_that_the_provider_does_not_count_is_its_miss() -> None:
    assert verdict_of(HIT, usage(9000, 0), SAME).reason is VerdictReason.NAMED_NOT_COUNTED


def test_an_unchanged_prefix_reused_whole_is_a_hit_without_any_cache_of_ours() -> None:
    assert verdict_of(INLINE, usage(10_000, 8_192), SAME).reason is VerdictReason.WHOLE_PREFIX


@pytest.mark.parametrize("seen", [None, SAME, AFTER_A_BREAK])
def test_what_the_provider_reuses_in_part_is_partial(seen: Comparison | None) -> None:
    assert verdict_of(INLINE, usage(10_000, 4_096), seen).code == VerdictCode.PARTIAL


def test_without_usage_nothing_is_claimed() -> None:
    assert verdict_of(HIT, Usage(), SAME) == Verdict(VerdictReason.NO_USAGE)


@pytest.mark.parametrize(
    ("seen", "reason"),
    [
        (None, VerdictReason.NOTHING_BEFORE),
        (replace(SAME, same_model=False), VerdictReason.OTHER_MODEL),
        (replace(SAME, same_served=False), VerdictReason.SERVED_BY_ANOTHER),
        (replace(SAME, same_config=False), VerdictReason.OTHER_SETTINGS),
        (replace(AFTER_A_BREAK, broken=replace(EARLY, source="tools")), VerdictReason.OTHER_TOOLS),
        (AFTER_A_BREAK, VerdictReason.LAYER_CHANGED),
        (turns_gone(BreakKind.SHORTENED), VerdictReason.HISTORY_REWRITTEN),
        (turns_gone(BreakKind.APPEARED), VerdictReason.HISTORY_REWRITTEN),
        (turns_gone(BreakKind.CHANGED), VerdictReason.LAYER_CHANGED),
        (replace(SAME, idle_seconds=IMPLICIT_LIFE.total_seconds() + 60), VerdictReason.TIME_PASSED),
        (replace(SAME, was_prompt=2_000), VerdictReason.EARLIER_TOO_SHORT),
        (SAME, VerdictReason.UNEXPLAINED),
    ],
)
def test_a_miss_has_one_reason(seen: Comparison | None, reason: VerdictReason) -> None:
    assert missed(seen).reason is reason


def test_below_the_minimum_nothing_could_have_hit() -> None:
    assert missed(AFTER_A_BREAK, prompt=900).reason is VerdictReason.TOO_SHORT


def test_a_model_that_is_not_known_to_cache_is_not_blamed() -> None:
    assert missed(SAME, minimum=None).reason is VerdictReason.NEVER_CACHES


def test_a_late_break_does_not_explain_that_the_long_prefix_before_it_missed() -> None:
    late = replace(SAME, broken=replace(EARLY, layer="buffered"))
    assert missed(late).reason is VerdictReason.UNEXPLAINED


def test_a_verdict_holds_the_figures_of_both_facts() -> None:
    verdict = missed(AFTER_A_BREAK)
    assert verdict.seen == AFTER_A_BREAK
    assert (verdict.cached, verdict.prompt, verdict.minimum) == (0, 10_000, MINIMUM)


@pytest.mark.parametrize(
    "verdict", [missed(None), missed(SAME), missed(AFTER_A_BREAK), Verdict(VerdictReason.CUT_OFF)]
)
def test_a_verdict_survives_being_stored_beside_its_break_line(verdict: Verdict) -> None:
    stored = orjson.loads(orjson.dumps(verdict.stored()))
    broken = verdict.seen.broken if verdict.seen else None
    assert Verdict.restored(stored, broken) == verdict
    assert "broken" not in stored or not stored["broken"]


def test_what_was_never_stored_is_no_verdict_and_a_strange_reason_is_unknown() -> None:
    assert Verdict.restored({}, None) is None
    assert Verdict.restored({"reason": "named", "cached": "many"}, None) is None
    strange = Verdict.restored({"reason": "moonlight"}, None)
    assert strange is not None and strange.code is VerdictCode.UNKNOWN


def test_every_reason_has_a_code_and_every_code_a_reason_and_a_meaning() -> None:
    assert set(CODES) == set(VerdictReason)
    assert set(CODES.values()) == set(MEANINGS) == set(VerdictCode)
