from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.prompt.caching import (
    CacheFacts,
    VerdictCode,
    display_name,
    fingerprint,
    minimum_in,
    pause_after,
    plan,
)
from tests.prompt.examples import NOW

LATER = NOW + timedelta(hours=1)
LIVE = CacheFacts(1024, name="cachedContents/a", expires=LATER)


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
        (replace(LIVE, expires=NOW + timedelta(minutes=29)), 9999, "extend", VerdictCode.HIT),
        (replace(LIVE, waived="Cheaper.", is_ours=True), 9999, "drop", VerdictCode.UNKNOWN),
        (replace(LIVE, waived="Cheaper."), 9999, "none", VerdictCode.UNKNOWN),
        (CacheFacts(1024, waived="Cheaper."), 9999, "none", VerdictCode.UNKNOWN),
    ],
)
def test_the_plan_follows_the_facts(facts: CacheFacts, tokens: int, action: str, code: VerdictCode) -> None:
    decided = plan(tokens, facts, NOW)
    assert (decided.action, decided.code) == (action, code)
    assert decided.is_hit == bool(decided.name) == (action in ("hit", "extend"))
    assert decided.reason.endswith(".") or facts.refusal


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
