"""Two facts kept apart: what our bytes did, what the provider counted."""

from dataclasses import replace
from datetime import timedelta

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.prompt.cache_life import CacheEventKind, CacheFate, CacheMoment, FateKind, fate_between
from sessions_app.prompt.caching import (
    CacheAction,
    CacheFacts,
    CachePlan,
    EntryReason,
    PlanReason,
    VerdictCode,
    plan_cache,
)
from sessions_app.prompt.prefix_diff import BreakKind, BreakLine
from sessions_app.prompt.reply import Usage
from sessions_app.prompt.static_change import StaticChange
from sessions_app.prompt.verdict import (
    CODES,
    MEANINGS,
    Comparison,
    Verdict,
    VerdictReason,
)
from sessions_app.prompt.verdict_rules import IMPLICIT_LIFE, WHOLE_SHARE, asked_again, lost_by, verdict_of
from tests.prompt.examples import NOW

LIVE = CacheFacts(1024, name="cachedContents/a", expires=NOW + timedelta(hours=1))
HIT = plan_cache(0, LIVE, NOW)
INLINE = CachePlan(CacheAction.NONE, "", PlanReason.TOO_SMALL)
MINIMUM = 4_096
BEGINNINGS = (CacheEventKind.MADE, CacheEventKind.NAMED, CacheEventKind.EXTENDED)
"""Events that prove that a cache lived."""

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


@pytest.mark.parametrize("cached", [900, 8_499, 9_468])
def test_another_model_reuses_nothing_of_the_request_before(cached: int) -> None:
    other = replace(SAME, same_model=False)
    assert verdict_of(INLINE, usage(9_468, cached), other).reason is VerdictReason.ANOTHERS_PREFIX


@pytest.mark.parametrize(
    ("cached", "reason"),
    [
        (300, VerdictReason.PART_OF_PREFIX),
        (333, VerdictReason.PART_OF_PREFIX),
        (334, VerdictReason.ANOTHERS_PREFIX),
    ],
)
def test_more_than_both_requests_begin_with_is_of_another_one(cached: int, reason: VerdictReason) -> None:
    """The provider may count a tenth more than we estimate."""
    assert verdict_of(INLINE, usage(10_000, cached), AFTER_A_BREAK).reason is reason


def test_more_than_an_unchanged_prefix_is_the_whole_of_it() -> None:
    assert verdict_of(INLINE, usage(20_000, 19_900), SAME).reason is VerdictReason.WHOLE_PREFIX


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


def ended(kind: FateKind, reason: EntryReason | None = None) -> CacheFate:
    return CacheFate(kind, "c/1", reason, seconds=300.0)


OTHERS = ended(FateKind.OTHER_BYTES)


@pytest.mark.parametrize(
    ("fate", "reason"),
    [
        (ended(FateKind.EXPIRED), VerdictReason.RAN_OUT),
        (ended(FateKind.GONE), VerdictReason.CACHE_LOST),
        (ended(FateKind.DROPPED, EntryReason.ADMIN), VerdictReason.DROPPED),
        (ended(FateKind.DROPPED, EntryReason.REPLACED), VerdictReason.DROPPED),
        (ended(FateKind.DROPPED, EntryReason.ROLLED_ON), VerdictReason.DROPPED),
        (ended(FateKind.UNUSED), VerdictReason.DROPPED),
        (ended(FateKind.UNKNOWN), VerdictReason.NOT_RECORDED),
    ],
)
@pytest.mark.parametrize("prompt", [900, 10_000])
def test_the_end_of_our_cache_explains_a_miss_and_no_minimum_does(
    fate: CacheFate, reason: VerdictReason, prompt: int
) -> None:
    verdict = verdict_of(INLINE, usage(prompt, 0), SAME, minimum=MINIMUM, fate=fate)
    assert (verdict.reason, verdict.fate) == (reason, fate)


@pytest.mark.parametrize(
    ("seen", "reason"),
    [
        (replace(AFTER_A_BREAK, static=StaticChange.TEXT), VerdictReason.LAYER_CHANGED),
        (replace(AFTER_A_BREAK, static=StaticChange.TOOLS), VerdictReason.OTHER_TOOLS),
        (replace(AFTER_A_BREAK, static=StaticChange.ROLLED_OVER), VerdictReason.ROLLED_OVER),
        (replace(AFTER_A_BREAK, static=StaticChange.OTHER_HISTORY), VerdictReason.HISTORY_REWRITTEN),
        (replace(AFTER_A_BREAK, static=StaticChange.UNKNOWN), VerdictReason.NOT_RECORDED),
        (SAME, VerdictReason.OTHER_ROUTE),
        (replace(SAME, same_model=False), VerdictReason.OTHER_MODEL),
    ],
)
@pytest.mark.parametrize("prompt", [900, 10_000])
def test_a_cache_of_other_bytes_is_explained_by_what_changed(
    seen: Comparison, reason: VerdictReason, prompt: int
) -> None:
    assert verdict_of(INLINE, usage(prompt, 0), seen, minimum=MINIMUM, fate=OTHERS).reason is reason


def test_an_implicit_roll_over_is_no_edit() -> None:
    rolled = replace(AFTER_A_BREAK, static=StaticChange.ROLLED_OVER)
    assert missed(rolled).code is VerdictCode.OUR_ROLLOVER


@pytest.mark.parametrize(
    ("kept", "reason"),
    [
        (3_600, VerdictReason.ROLLED_OVER),
        (3_700, VerdictReason.NEAR_MINIMUM),
        (4_300, VerdictReason.NEAR_MINIMUM),
        (4_600, VerdictReason.UNEXPLAINED),
    ],
)
def test_a_change_explains_a_miss_only_where_surely_less_than_the_minimum_was_kept(
    kept: int, reason: VerdictReason
) -> None:
    near = replace(AFTER_A_BREAK, prefix_tokens=kept, static=StaticChange.ROLLED_OVER)
    assert missed(near).reason is reason


@pytest.mark.parametrize(
    ("was_prompt", "kept", "reason"),
    [
        (4_097, 4_093, VerdictReason.NEAR_MINIMUM),
        (4_097, 4_096, VerdictReason.TIME_PASSED),
        (4_600, 4_093, VerdictReason.TIME_PASSED),
        (4_095, 4_096, VerdictReason.EARLIER_TOO_SHORT),
    ],
)
def test_a_prefix_counted_as_long_enough_only_by_itself_may_have_been_too_short(
    was_prompt: int, kept: int, reason: VerdictReason
) -> None:
    later = replace(SAME, was_prompt=was_prompt, prefix_tokens=kept, idle_seconds=3_600)
    assert missed(later).reason is reason


def test_the_tokens_of_a_whole_request_need_no_estimate() -> None:
    whole = replace(AFTER_A_BREAK, prefix_tokens=AFTER_A_BREAK.tokens)
    assert verdict_of(INLINE, usage(MINIMUM, 0), whole, minimum=MINIMUM).reason is VerdictReason.UNEXPLAINED


def test_a_partial_hit_keeps_what_became_of_our_cache() -> None:
    fate = ended(FateKind.DROPPED, EntryReason.ADMIN)
    verdict = verdict_of(INLINE, usage(10_000, 4_096), SAME, minimum=MINIMUM, fate=fate)
    assert (verdict.code, verdict.fate) == (VerdictCode.PARTIAL, fate)


def test_a_named_cache_has_no_other_fate() -> None:
    assert verdict_of(HIT, usage(9_000, 0), SAME, fate=OTHERS).fate is None


def test_settings_that_changed_are_not_the_providers_doing() -> None:
    late = replace(SAME, same_config=False, broken=replace(EARLY, layer="buffered"))
    assert missed(late).reason is VerdictReason.OTHER_SETTINGS


@pytest.mark.parametrize(
    ("fate", "reason"),
    [
        (None, VerdictReason.CACHE_GONE),
        (ended(FateKind.LIVES), VerdictReason.CACHE_GONE),
        (ended(FateKind.GONE), VerdictReason.CACHE_GONE),
        (ended(FateKind.EXPIRED), VerdictReason.RAN_OUT),
        (ended(FateKind.DROPPED, EntryReason.ADMIN), VerdictReason.DROPPED),
    ],
)
def test_a_named_cache_that_is_gone_is_the_providers_unless_it_was_ours(
    fate: CacheFate | None, reason: VerdictReason
) -> None:
    assert lost_by(fate).reason is reason


OTHER_MODEL = replace(SAME, same_model=False)
EARLIER = replace(SAME, number=5, idle_seconds=200)


@pytest.mark.parametrize(
    ("again", "fate", "reason"),
    [
        (EARLIER, None, VerdictReason.UNEXPLAINED),
        (replace(EARLIER, idle_seconds=900), None, VerdictReason.TIME_PASSED),
        (replace(EARLIER, same_config=False), None, VerdictReason.OTHER_SETTINGS),
        (replace(EARLIER, prefix_tokens=300), None, VerdictReason.OTHER_MODEL),
        (replace(EARLIER, prefix_tokens=4_300), None, VerdictReason.NEAR_MINIMUM),
        (replace(EARLIER, prefix_tokens=300), ended(FateKind.EXPIRED), VerdictReason.RAN_OUT),
        (replace(EARLIER, prefix_tokens=300), OTHERS, VerdictReason.OTHER_MODEL),
    ],
)
def test_back_to_a_model_the_last_request_to_it_explains_more(
    again: Comparison, fate: CacheFate | None, reason: VerdictReason
) -> None:
    first = missed(OTHER_MODEL)
    assert first.reason is VerdictReason.OTHER_MODEL
    verdict = asked_again(first, INLINE, usage(10_000, 0), again, fate)
    assert verdict.reason is reason and verdict.seen == OTHER_MODEL
    assert verdict.again == (None if reason is VerdictReason.OTHER_MODEL else again)
    assert Verdict.restored(orjson.loads(orjson.dumps(verdict.stored())), None) == verdict


comparisons = st.builds(
    Comparison,
    number=st.just(7),
    prefix_tokens=st.integers(0, 10_000),
    tokens=st.just(10_000),
    was_prompt=st.none() | st.integers(0, 20_000),
    idle_seconds=st.floats(0, 3_600),
    same_model=st.booleans(),
    same_served=st.booleans(),
    same_config=st.booleans(),
    broken=st.none() | st.just(EARLY),
    static=st.sampled_from(StaticChange),
)
moments = st.lists(
    st.builds(
        CacheMoment,
        kind=st.sampled_from(CacheEventKind),
        at=st.integers(0, 3_600).map(lambda seconds: NOW + timedelta(seconds=seconds)),
        name=st.sampled_from(["c/1", "c/2"]),
        expires=st.none() | st.integers(0, 5_400).map(lambda seconds: NOW + timedelta(seconds=seconds)),
        reason=st.sampled_from(["", *EntryReason]),
    ),
    max_size=12,
).map(lambda events: sorted(events, key=lambda event: event.at))


@given(comparisons, moments, st.integers(0, 3_600), st.integers(0, 20_000), st.booleans())
def test_a_provider_miss_implies_that_nothing_of_ours_happened(
    seen: Comparison, events: list[CacheMoment], since: int, prompt: int, is_named: bool
) -> None:
    began, until = NOW + timedelta(seconds=since), NOW + timedelta(seconds=3_600)
    fate = fate_between(events, began, until)
    verdict = verdict_of(HIT if is_named else INLINE, usage(prompt, 0), seen, minimum=MINIMUM, fate=fate)
    if verdict.code is not VerdictCode.PROVIDER_MISS or is_named:
        return
    lived = [event for event in events if began <= event.at <= until and event.kind in BEGINNINGS]
    assert fate is None and not lived
    assert seen.same_model and seen.same_config and seen.same_served
    assert seen.idle_seconds <= IMPLICIT_LIFE.total_seconds()
    assert seen.broken is None or seen.scaled(prompt) * WHOLE_SHARE >= MINIMUM
    assert prompt >= MINIMUM and (seen.was_prompt is None or seen.was_prompt >= MINIMUM)
