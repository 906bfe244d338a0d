from dataclasses import replace
from datetime import timedelta

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.prompt.caching import (
    EXPIRY_MARGIN,
    CacheAction,
    CacheFacts,
    CachePlan,
    PlanReason,
    display_name,
    fingerprint,
    minimum_in,
    pause_after,
    plan_cache,
)
from tests.prompt.examples import NOW

SOON = NOW + timedelta(seconds=1)
LATER = NOW + timedelta(hours=1)
LIVE = CacheFacts(1024, name="cachedContents/a", expires=LATER)


@pytest.mark.parametrize(
    ("facts", "tokens", "action", "reason"),
    [
        (CacheFacts(None), 9999, CacheAction.NONE, PlanReason.NOT_OFFERED),
        (CacheFacts(1024), 1023, CacheAction.NONE, PlanReason.TOO_SMALL),
        (CacheFacts(1024), 1024, CacheAction.CREATE, PlanReason.NEW),
        (LIVE, 9999, CacheAction.HIT, PlanReason.LIVE),
        (CacheFacts(1024, "cachedContents/a", NOW), 9999, CacheAction.CREATE, PlanReason.EXPIRED),
        (CacheFacts(1024, "cachedContents/a", SOON), 9999, CacheAction.CREATE, PlanReason.EXPIRED),
        (CacheFacts(1024, was_made=True), 9999, CacheAction.CREATE, PlanReason.AGAIN),
        (CacheFacts(1024, expires=NOW, was_made=True), 9999, CacheAction.CREATE, PlanReason.EXPIRED),
        (CacheFacts(1024, expires=LATER, was_made=True), 9999, CacheAction.CREATE, PlanReason.AGAIN),
        (CacheFacts(1024, pending=True), 9999, CacheAction.MISS, PlanReason.PENDING),
        (CacheFacts(1024, refusal="limit=0"), 9999, CacheAction.NONE, PlanReason.REFUSED),
        (replace(LIVE, expires=NOW + timedelta(minutes=29)), 9999, CacheAction.EXTEND, PlanReason.EXPIRING),
        (replace(LIVE, expires=NOW + timedelta(minutes=30)), 9999, CacheAction.HIT, PlanReason.LIVE),
        (replace(LIVE, expires=NOW + EXPIRY_MARGIN), 9999, CacheAction.CREATE, PlanReason.EXPIRED),
        (CacheFacts(1024, is_deleting=True, was_made=True), 9999, CacheAction.MISS, PlanReason.DELETING),
        (replace(LIVE, is_waived=True, is_ours=True), 9999, CacheAction.DROP, PlanReason.WAIVED),
        (
            replace(LIVE, is_waived=True, is_ours=True, is_dropped=True),
            9999,
            CacheAction.NONE,
            PlanReason.WAIVED,
        ),
        (replace(LIVE, is_waived=True), 9999, CacheAction.NONE, PlanReason.WAIVED),
        (
            replace(LIVE, expires=SOON, is_waived=True, is_ours=True),
            9999,
            CacheAction.NONE,
            PlanReason.WAIVED,
        ),
        (CacheFacts(1024, is_waived=True), 9999, CacheAction.NONE, PlanReason.WAIVED),
    ],
)
def test_the_plan_follows_the_facts(
    facts: CacheFacts, tokens: int, action: CacheAction, reason: PlanReason
) -> None:
    decided = plan_cache(tokens, facts, NOW)
    assert (decided.action, decided.reason) == (action, reason)
    assert (decided.tokens, decided.minimum) == (tokens, facts.minimum or 0)
    assert (decided.refusal, decided.seconds_left) == (facts.refusal, 29 * 60 if action == "extend" else 0)
    assert decided.is_hit == bool(decided.name) == (action in ("hit", "extend"))


@pytest.mark.parametrize("minutes", [60, 9])
def test_a_cache_that_was_let_go_of_is_kept_whether_or_not_it_is_extended(minutes: int) -> None:
    facts = replace(LIVE, expires=NOW + timedelta(minutes=minutes))
    kept = [plan_cache(9999, replace(facts, is_dropped=gone), NOW).is_kept for gone in (True, False)]
    assert kept == [True, False]


def test_a_cache_that_lives_is_named_though_another_would_be_refused_or_too_small() -> None:
    assert plan_cache(9, replace(LIVE, refusal="limit=0"), NOW).action is CacheAction.HIT


@pytest.mark.parametrize(("calibration", "tokens"), [(0.8, 1024), (0.79, 1011), (1.25, 1600)])
def test_the_size_is_what_the_provider_would_count(calibration: float, tokens: int) -> None:
    decided = plan_cache(1280, CacheFacts(1024, calibration=calibration), NOW)
    assert (decided.tokens, decided.action is CacheAction.CREATE) == (tokens, tokens >= 1024)


def test_a_plan_survives_being_stored_beside_its_action_and_name() -> None:
    decided = plan_cache(9999, replace(LIVE, expires=NOW + timedelta(minutes=9)), NOW)
    stored = orjson.loads(orjson.dumps(decided.stored()))
    assert CachePlan.restored(decided.action, decided.name, stored) == decided
    assert not {"action", "name"} & stored.keys()
    assert CachePlan.restored("hit", "cachedContents/a", {}) is None


def test_a_letter_that_moves_to_the_next_field_changes_the_fingerprint() -> None:
    assert fingerprint("a", "b", "", b"") != fingerprint("ab", "", "", b"")


@pytest.mark.parametrize(
    "other", [("x", "b", "c", b"d"), ("a", "x", "c", b"d"), ("a", "b", "x", b"d"), ("a", "b", "c", b"x")]
)
def test_parts_of_one_length_have_fingerprints_of_their_own(other: tuple[str, str, str, bytes]) -> None:
    assert fingerprint(*other) != fingerprint("a", "b", "c", b"d")


fields = st.tuples(st.text(max_size=3), st.text(max_size=3), st.text(max_size=3), st.binary(max_size=3))


@given(fields, fields)
def test_two_fingerprints_are_equal_only_for_equal_parts(
    first: tuple[str, str, str, bytes], second: tuple[str, str, str, bytes]
) -> None:
    assert (fingerprint(*first) == fingerprint(*second)) == (first == second)


@pytest.mark.parametrize(
    ("message", "minimum"),
    [
        ("Cached content is too small. total_token_count=16, min_total_token_count=1024", 1024),
        ("The cached content is of 9 tokens. The minimum token count to start caching is 4096.", 4096),
        ("Cached content is too small.", None),
    ],
)
def test_a_refusal_names_the_smallest_cache(message: str, minimum: int | None) -> None:
    assert minimum_in(message) == minimum


def test_the_pause_doubles_up_to_a_day() -> None:
    minutes = [pause_after(failures).total_seconds() / 60 for failures in (0, 1, 2, 3, 9, 400)]
    assert minutes == [10, 10, 20, 40, 1440, 1440]


def test_a_cache_is_called_by_whose_it_is() -> None:
    name = display_name("0123456789ab", "f" * 64)
    assert name == "pipeweb/0123456789ab/" + "f" * 16 and len(name) <= 128
