from dataclasses import replace
from datetime import timedelta

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.prompt.caching import (
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
        (replace(LIVE, is_waived=True, is_ours=True), 9999, CacheAction.DROP, PlanReason.WAIVED),
        (replace(LIVE, is_waived=True), 9999, CacheAction.NONE, PlanReason.WAIVED),
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


def test_a_plan_survives_being_stored_beside_its_action_and_name() -> None:
    decided = plan_cache(9999, replace(LIVE, expires=NOW + timedelta(minutes=9)), NOW)
    stored = orjson.loads(orjson.dumps(decided.stored()))
    assert CachePlan.restored(decided.action, decided.name, stored) == decided
    assert not {"action", "name"} & stored.keys()
    assert CachePlan.restored("hit", "cachedContents/a", {}) is None


def test_a_letter_that_moves_to_the_next_field_changes_the_fingerprint() -> None:
    assert fingerprint("a", "b", "", b"") != fingerprint("ab", "", "", b"")


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
