from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.prompt.caching import CacheFacts, VerdictCode, fingerprint, judge, plan
from sessions_app.prompt.reply import Usage
from tests.prompt.examples import NOW

LATER = NOW + timedelta(hours=1)
LIVE = CacheFacts(1024, name="cachedContents/a", expires=LATER)


def usage(prompt: int, cached: int) -> Usage:
    return Usage(prompt=prompt, cached=cached, raw={"promptTokenCount": prompt})


@pytest.mark.parametrize(
    ("facts", "tokens", "action", "code"),
    [
        (CacheFacts(None), 9999, "none", VerdictCode.UNSUPPORTED),
        (CacheFacts(1024), 1023, "none", VerdictCode.BELOW_MINIMUM),
        (CacheFacts(1024), 1024, "create", VerdictCode.FIRST),
        (LIVE, 9999, "hit", VerdictCode.HIT),
        (CacheFacts(1024, "cachedContents/a", NOW), 9999, "create", VerdictCode.CACHE_EXPIRED),
        (
            CacheFacts(1024, "cachedContents/a", NOW + timedelta(seconds=1)),
            9999,
            "create",
            VerdictCode.CACHE_EXPIRED,
        ),
        (CacheFacts(1024, pending=True), 9999, "miss", VerdictCode.FIRST),
        (CacheFacts(1024, refusal="limit=0"), 9999, "none", VerdictCode.UNSUPPORTED),
    ],
)
def test_the_plan_follows_the_facts(facts: CacheFacts, tokens: int, action: str, code: VerdictCode) -> None:
    decided = plan(tokens, facts, NOW)
    assert (decided.action, decided.code) == (action, code)
    assert bool(decided.name) == (action == "hit")
    assert decided.reason.endswith(".") or facts.refusal


def test_a_hit_that_the_provider_counts_is_a_hit() -> None:
    verdict = judge(plan(0, LIVE, NOW), usage(9000, 8000))
    assert verdict.code == VerdictCode.HIT
    assert "8000 of 9000" in verdict.words


def test_a_hit_that_the_provider_does_not_count_is_its_miss() -> None:
    assert judge(plan(0, LIVE, NOW), usage(9000, 0)).code == VerdictCode.PROVIDER_MISS


def test_a_cache_that_is_gone_is_expired_whatever_the_count() -> None:
    assert judge(plan(0, LIVE, NOW), usage(9000, 5000), cache_gone=True).code == VerdictCode.CACHE_EXPIRED


def test_what_the_provider_reuses_on_its_own_is_partial() -> None:
    verdict = judge(plan(10, CacheFacts(1024), NOW), usage(9000, 4096))
    assert verdict.code == VerdictCode.PARTIAL
    assert "needs 1024" in verdict.words


def test_without_usage_nothing_is_claimed() -> None:
    assert judge(plan(0, LIVE, NOW), Usage()).code == VerdictCode.UNKNOWN


def test_a_miss_gives_the_reason_of_the_plan() -> None:
    assert judge(plan(10, CacheFacts(1024), NOW), usage(10, 0)).code == VerdictCode.BELOW_MINIMUM


def test_a_letter_that_moves_to_the_next_field_changes_the_fingerprint() -> None:
    assert fingerprint("a", "b", "", b"") != fingerprint("ab", "", "", b"")


fields = st.tuples(st.text(max_size=3), st.text(max_size=3), st.text(max_size=3), st.binary(max_size=3))


@given(fields, fields)
def test_two_fingerprints_are_equal_only_for_equal_parts(
    first: tuple[str, str, str, bytes], second: tuple[str, str, str, bytes]
) -> None:
    assert (fingerprint(*first) == fingerprint(*second)) == (first == second)
