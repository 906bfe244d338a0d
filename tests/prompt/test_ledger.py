"""The ledger holds Context Pilot's examples (B3) and the laws behind them."""

from collections.abc import Sequence
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.prompt.ledger import Entry, Ledger, enter, lines_of, prefix_of
from sessions_app.prompt.pricing import Rates

RATES = Rates(Decimal(3), Decimal("0.30"), Decimal(15))

identities = st.lists(st.integers(0, 5), max_size=12)


def entries(identities: Sequence[object], *, named: int = 0) -> list[Entry]:
    return [
        Entry("dynamic", f"panel:{one}", one, 100, position < named)
        for position, one in enumerate(map(str, identities))
    ]


@pytest.mark.parametrize(
    ("before", "now", "hits"),
    [
        ("abc", "axc", 1),
        ("abc", "bc", 0),
        ("abc", "abcd", 3),
        ("abc", "acb", 1),
        ("", "abc", 0),
    ],
)
def test_an_item_hits_while_all_before_it_are_the_same(before: str, now: str, hits: int) -> None:
    sums = enter(list(before), entries(now))
    assert (sums.hits, sums.hit_tokens, sums.miss_tokens) == (hits, 100 * hits, 100 * (len(now) - hits))


def test_an_item_costs_what_a_hit_or_a_miss_costs() -> None:
    hit, miss = lines_of(entries("ab"), 1, RATES)
    assert (hit.usd, miss.usd) == (Decimal("0.00003"), Decimal("0.0003"))


def test_going_from_a_miss_to_a_named_cache_is_the_same_items() -> None:
    assert enter(list("abc"), entries("abcd", named=2)) == enter(list("abc"), entries("abcd"))


def test_a_named_cache_hits_in_a_new_session_too() -> None:
    assert enter([], entries("abc", named=2)).hits == 2


def test_without_a_price_nothing_is_said_about_money() -> None:
    assert [line.usd for line in lines_of(entries("ab"), 1, None)] == [None, None]


@given(identities, identities)
def test_the_sums_are_those_of_the_lines(before: list[int], now: list[int]) -> None:
    sums = enter([str(one) for one in before], entries(now))
    lines = lines_of(entries(now), sums.prefix, RATES)
    assert sums.hits == sum(line.is_hit for line in lines)
    assert sums.tokens == 100 * len(now)


@given(identities, identities, identities)
def test_a_longer_common_beginning_is_never_a_shorter_prefix(
    head: list[int], before: list[int], now: list[int]
) -> None:
    assert prefix_of(head + before, head + now) >= len(head)


@given(identities, identities)
def test_what_only_went_on_hits_whole(before: list[int], more: list[int]) -> None:
    assert enter([str(one) for one in before], entries(before + more)).prefix >= len(before)


def test_a_ledger_survives_being_stored() -> None:
    sums = enter(list("ab"), entries("abc"))
    assert Ledger.restored(sums.stored()) == sums
    assert Ledger.restored({}) is None
