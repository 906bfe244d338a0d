"""Sums of losses by cause: each loss is counted once, in tokens and in money."""

from decimal import Decimal
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.prompt.saving_causes import SavingCause
from sessions_app.prompt.savings import CacheUse, ExchangeLoss, savings_of

CENT = Decimal("0.01")

amounts = st.decimals(0, Decimal("0.05"), places=2)
"""Few, as the causes are, so that several losses share a cause, and some of them a sum."""
losses = st.lists(
    st.builds(
        ExchangeLoss,
        number=st.integers(1, 10_000),
        cause=st.sampled_from([SavingCause.HISTORY, SavingCause.TOOLS, SavingCause.PROVIDER]),
        tokens=st.integers(1, 100_000),
        usd=st.none() | amounts,
        source=st.sampled_from(["", "panel:a", "panel:b"]),
        idle_seconds=st.floats(0, 1e5),
    ),
    max_size=30,
    unique_by=lambda one: one.number,
)
caches = st.lists(
    st.builds(CacheUse, amounts, amounts, st.integers(0, 9), st.none() | st.integers(1, 9), st.booleans()),
    max_size=5,
)


@given(losses, caches)
def test_the_sums_over_the_causes_are_those_over_the_exchanges(
    lost: list[ExchangeLoss], uses: list[CacheUse]
) -> None:
    found = savings_of(lost, uses, answered=99)
    known = sum((one.usd for one in lost if one.usd is not None), Decimal(0))
    wasted = sum((max(Decimal(0), one.paid - one.saved) for one in uses if one.is_whole), Decimal(0))
    assert found.usd == known + wasted
    assert found.tokens == sum(one.tokens for one in lost)
    own = [one for one in found.causes if one.cause is not SavingCause.HARDLY_USED]
    assert sum(one.requests for one in own) == len(lost)
    assert sum(one.unpriced for one in own) == sum(one.usd is None for one in lost)
    assert len({one.cause for one in found.causes}) == len(found.causes)


@given(losses, caches)
def test_the_most_expensive_cause_comes_first(lost: list[ExchangeLoss], uses: list[CacheUse]) -> None:
    causes = savings_of(lost, uses, answered=99).causes
    assert all((one.usd, one.tokens) >= (other.usd, other.tokens) for one, other in pairwise(causes))


@given(losses)
def test_the_largest_loss_of_each_cause_is_named(lost: list[ExchangeLoss]) -> None:
    by_number = {one.number: one for one in lost}
    for found in savings_of(lost, answered=99).causes:
        assert found.largest is not None
        largest = by_number[found.largest]
        assert largest.cause is found.cause
        most = max((one.usd or 0, one.tokens) for one in lost if one.cause is found.cause)
        assert (largest.usd or 0, largest.tokens) == most


def test_the_source_that_cost_most_is_named_with_the_number_of_others() -> None:
    lost = [
        ExchangeLoss(1, SavingCause.HISTORY, 5, CENT, "turn:a", 3),
        ExchangeLoss(2, SavingCause.HISTORY, 5, CENT, "turn:b", 4),
        ExchangeLoss(3, SavingCause.HISTORY, 5, CENT, "turn:b", 4),
        ExchangeLoss(4, SavingCause.HISTORY, 50, 2 * CENT),
    ]
    (found,) = savings_of(lost, answered=9).causes
    assert savings_of(lost[::-1], answered=9).causes == (found,)
    assert (found.source, found.source_number, found.other_sources, found.largest) == ("turn:b", 4, 1, 4)


def test_the_source_is_chosen_by_what_it_cost_and_not_by_its_name() -> None:
    lost = [
        ExchangeLoss(1, SavingCause.CONTEXT_FIRST, 9, CENT, "panel:z"),
        ExchangeLoss(2, SavingCause.CONTEXT_FIRST, 5, 3 * CENT, "panel:a"),
        ExchangeLoss(3, SavingCause.CONTEXT_FIRST, 5, CENT, "panel:b"),
    ]
    (found,) = savings_of(lost, answered=9).causes
    assert (found.source, found.other_sources, found.largest) == ("panel:a", 2, 2)


def test_the_earlier_of_equal_losses_is_named() -> None:
    lost = [ExchangeLoss(number, SavingCause.HISTORY, 5, CENT) for number in (7, 4, 9)]
    assert savings_of(lost, answered=9).causes[0].largest == 4


def test_of_sources_that_cost_alike_the_first_to_do_so_is_named() -> None:
    lost = [ExchangeLoss(number, SavingCause.HISTORY, 5, CENT, f"turn:{number}") for number in (4, 7, 9)]
    assert savings_of(lost, answered=9).causes[0].source == "turn:4"


def test_a_cause_tells_its_longest_pause_and_its_largest_minimum() -> None:
    lost = [
        ExchangeLoss(1, SavingCause.BELOW_MINIMUM, 5, CENT, idle_seconds=9, minimum=2_048),
        ExchangeLoss(2, SavingCause.BELOW_MINIMUM, 5, CENT, idle_seconds=600, minimum=4_096),
        ExchangeLoss(3, SavingCause.BELOW_MINIMUM, 5, CENT, idle_seconds=60, minimum=2_048),
    ]
    (found,) = savings_of(lost, answered=9).causes
    assert (found.idle_seconds, found.minimum) == (600, 4_096)


def test_a_cache_that_paid_is_no_cause() -> None:
    uses = [CacheUse(CENT, 2 * CENT, 9, 1), CacheUse(CENT, CENT, 9, 2)]
    assert savings_of((), uses, answered=9).causes == ()
    wasted = [CacheUse(2 * CENT, CENT, 1, 7), CacheUse(4 * CENT, CENT, 2, 8), CacheUse(CENT, 0 * CENT, 0, 9)]
    (found,) = savings_of((), [*uses, *wasted], answered=9).causes
    assert (found.caches, found.requests, found.largest) == (3, 3, 8)
    assert (found.paid, found.saved, found.usd) == (7 * CENT, 2 * CENT, 5 * CENT)


@pytest.mark.parametrize("usd", [CENT, None])
def test_sums_are_lower_bounds_where_some_loss_has_no_price(usd: Decimal | None) -> None:
    lost = [ExchangeLoss(1, SavingCause.HISTORY, 5, CENT), ExchangeLoss(2, SavingCause.TOOLS, 5, usd)]
    assert savings_of(lost, answered=9).is_whole == (usd is not None)


@pytest.mark.parametrize("unknown", [0, 1])
def test_sums_are_lower_bounds_where_nobody_knows_what_an_exchange_lost(unknown: int) -> None:
    lost = [ExchangeLoss(1, SavingCause.HISTORY, 5, CENT)]
    assert savings_of(lost, answered=9, unknown=unknown).is_whole == (not unknown)


def test_an_unknown_cache_is_counted_and_not_added() -> None:
    found = savings_of((), [CacheUse(CENT, Decimal(0), 0, None, is_whole=False)], answered=1)
    assert (found.causes, found.unknown_caches, found.is_whole) == ((), 1, False)
