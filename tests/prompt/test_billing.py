"""The provider's count laid over the items: nothing twice, nothing lost, the cached tokens in front."""

from collections.abc import Sequence
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.prompt.billing import (
    BilledAs,
    ItemChange,
    PromptCount,
    apportion,
    bill_of,
    changes_of,
    share_out,
)
from sessions_app.prompt.prefix_diff import LedgerItem
from sessions_app.prompt.pricing import Money, Rates, cost
from sessions_app.prompt.reply import Usage

RATES = Rates(Decimal("0.075"), Decimal("0.01875"), Decimal("0.3"))


def items(*tokens: int, named: Sequence[int] = ()) -> list[LedgerItem]:
    return [LedgerItem("static", f"s:{at}", at, one, at in named) for at, one in enumerate(tokens)]


def money_of(count: PromptCount, output: int = 7, thoughts: int = 3, tool_use: int = 5) -> Money:
    usage = Usage(
        prompt=count.prompt, cached=count.cached, output=output, thoughts=thoughts, tool_use=tool_use
    )
    return cost(usage, RATES)


counts = st.integers(0, 400_000).flatmap(
    lambda prompt: st.builds(PromptCount, st.just(prompt), st.integers(0, prompt))
)
weighed = st.lists(st.tuples(st.integers(0, 9_000), st.booleans()), min_size=1, max_size=30)


@given(weighed, counts)
def test_the_lines_sum_up_to_what_was_paid_and_counted(
    sizes: list[tuple[int, bool]], count: PromptCount
) -> None:
    own = [LedgerItem("static", "s", at, tokens, named) for at, (tokens, named) in enumerate(sizes)]
    money = money_of(count)
    bill = bill_of(own, changes_of(None, range(len(own))), count, money)
    assert bill.total == money.total
    assert sum(one.cached for one in bill.items) == count.cached
    assert sum(one.new for one in bill.items) == count.prompt - count.cached
    assert all(one.cached >= 0 and one.new >= 0 for one in bill.items)


@given(weighed, counts)
def test_beside_a_named_cache_only_its_items_are_cached(
    sizes: list[tuple[int, bool]], count: PromptCount
) -> None:
    own = [LedgerItem("static", "s", at, max(tokens, 1), named) for at, (tokens, named) in enumerate(sizes)]
    shares = share_out(own, count)
    if any(entry.is_named for entry in own):
        assert not any(cached for entry, (cached, _) in zip(own, shares, strict=True) if not entry.is_named)


@pytest.mark.parametrize(
    ("named", "count", "shares"),
    [
        ([0], PromptCount(300, 120), [(120, 0), (0, 90), (0, 90)]),
        ([2], PromptCount(300, 120), [(0, 120), (0, 60), (120, 0)]),
        ([0], PromptCount(300, 0), [(0, 150), (0, 75), (0, 75)]),
        ([0, 1, 2], PromptCount(300, 120), [(60, 90), (30, 45), (30, 45)]),
        ([], PromptCount(300, 500), [(150, 0), (75, 0), (75, 0)]),
    ],
)
def test_the_items_of_a_cache_that_was_used_are_its_tokens_and_all_others_are_new(
    named: list[int], count: PromptCount, shares: list[tuple[int, int]]
) -> None:
    """A provider that counts more as cached than it read at all has cached all of it."""
    assert share_out(items(100, 50, 50, named=named), count) == shares


@pytest.mark.parametrize(
    ("weights", "total", "parts"),
    [([3, 1, 1], 4, [2, 1, 1]), ([1, 1], 3, [2, 1]), ([0, 0], 5, [0, 5]), ([], 5, [])],
)
def test_what_is_left_goes_to_the_largest_remainders_the_first_of_equal_ones(
    weights: list[int], total: int, parts: list[int]
) -> None:
    assert apportion(weights, total) == parts


def test_an_item_without_a_token_was_billed_as_nothing() -> None:
    count = PromptCount(50, 0)
    bill = bill_of(items(0, 50), changes_of(None, range(2)), count, money_of(count))
    assert [one.billed for one in bill.items] == [BilledAs.NOTHING, BilledAs.NEW]
    assert [one.usd for one in bill.items] == [0, Decimal("0.00000375")]


def test_cached_tokens_are_the_first_of_the_request() -> None:
    assert share_out(items(100, 100, 100), PromptCount(600, 300)) == [(200, 0), (100, 100), (0, 200)]


def test_an_item_that_is_part_cached_says_both() -> None:
    count = PromptCount(600, 300)
    bill = bill_of(items(100, 100, 100), changes_of(None, range(3)), count, money_of(count))
    assert [one.billed for one in bill.items] == [BilledAs.CACHED, BilledAs.BOTH, BilledAs.NEW]


def test_nothing_was_reused_though_every_item_is_unchanged() -> None:
    changes = changes_of([0, 1], [0, 1])
    bill = bill_of(items(50, 50), changes, PromptCount(100, 0), None)
    assert {one.change for one in bill.items} == {ItemChange.UNCHANGED}
    assert {one.billed for one in bill.items} == {BilledAs.NEW}


def test_without_a_count_it_is_unknown_how_items_were_billed() -> None:
    bill = bill_of(items(50, 50), changes_of(None, range(2)), None, None)
    assert {one.billed for one in bill.items} == {BilledAs.UNKNOWN} and bill.total is None
    assert [one.entry for one in bill.items] == items(50, 50)
    assert {one.change for one in bill.items} == {ItemChange.NEW}


def test_without_a_price_the_tokens_are_known_and_the_money_is_not() -> None:
    bill = bill_of(items(50), changes_of(None, range(1)), PromptCount(60, 20), None)
    assert (bill.items[0].cached, bill.items[0].new, bill.total) == (20, 40, None)


@pytest.mark.parametrize(
    ("before", "now", "found"),
    [
        ("abc", "abc", "unchanged unchanged unchanged"),
        ("abc", "axc", "unchanged new behind"),
        ("abc", "bc", "behind behind"),
        (None, "ab", "new new"),
    ],
)
def test_an_item_behind_a_change_is_not_a_changed_one(before: str | None, now: str, found: str) -> None:
    assert " ".join(changes_of(before, now)) == found


@given(st.lists(st.integers(0, 50), min_size=1), st.integers(0, 10_000))
def test_parts_are_whole_and_complete(weights: list[int], total: int) -> None:
    parts = apportion(weights, total)
    assert sum(parts) == total and len(parts) == len(weights)
    whole = sum(weights)
    if whole:
        pairs = zip(parts, weights, strict=True)
        assert all(abs(part - total * weight / whole) < 1 for part, weight in pairs)
