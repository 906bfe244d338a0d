from collections.abc import Sequence
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.prompt.prefix_diff import (
    BreakKind,
    BreakLine,
    BreakPlace,
    CacheLoss,
    Ledger,
    LedgerItem,
    cache_loss,
    common_prefix,
    is_hit,
    ledger_of,
)
from sessions_app.prompt.pricing import Rates

RATES = Rates(Decimal(3), Decimal("0.30"), Decimal(15))


PLACE = BreakPlace(3, "dynamic", "panel:notes", 0, None, 1, 2, 130, 7_036)
BREAK = BreakLine(BreakKind.CHANGED_AND_MOVED, "dynamic", "panel:todos", 0, PLACE, "a", "b", "c")


@pytest.mark.parametrize(
    ("counts", "tokens", "usd"),
    [
        ((2_994, 0, 3_992), 2_994, "0.00134730"),
        ((3_000, 3_000, 4_000), 0, "0"),
        ((1_000, 3_000, 4_000), 0, "0"),
        ((3_000, 1_000, 4_000), 2_000, "0.00090000"),
        ((3_000, 0, 500), 500, "0.00022500"),
    ],
)
def test_a_loss_is_what_the_provider_no_longer_serves(
    counts: tuple[int, int, int], tokens: int, usd: str
) -> None:
    rates = Rates(Decimal("0.50"), Decimal("0.05"), Decimal(3))
    assert cache_loss(*counts, rates) == CacheLoss(tokens, Decimal(usd))


@pytest.mark.parametrize("counts", [(None, 0, 9), (9, None, 9), (9, 0, None)])
def test_a_missing_count_is_an_unknown_loss(counts: tuple[int | None, int | None, int | None]) -> None:
    assert cache_loss(*counts, RATES) == CacheLoss(None, None)


def test_a_loss_without_a_price_has_tokens_only() -> None:
    assert cache_loss(9, 0, 9, None) == CacheLoss(9, None)
    assert cache_loss(0, 0, 9, None) == CacheLoss(0, Decimal(0))


def test_a_break_survives_being_stored() -> None:
    assert BreakLine.restored(BREAK.stored()) == BREAK
    assert BreakLine.restored({}) is None


@pytest.mark.parametrize(
    ("kind", "read"), [("changed", BreakKind.CHANGED), ("moved", BreakKind.UNKNOWN), ("x", BreakKind.UNKNOWN)]
)
def test_a_break_of_an_earlier_version_has_no_place_and_blames_nothing_that_moved(
    kind: str, read: BreakKind
) -> None:
    stored = {"item": 2, "kind": kind, "layer": "dynamic", "source": "panel:git_log", "turn": 4, "byte": 12}
    found = BreakLine.restored(
        stored | {"before": "a", "was": "b", "now": "c", "lost_tokens": 730, "usd": ""}
    )
    assert found == BreakLine(read, "dynamic", "panel:git_log", 0, None, "a", "b", "c")


identities = st.lists(st.integers(0, 5), max_size=12)


def entries(identities: Sequence[object], *, named: int = 0) -> list[LedgerItem]:
    return [
        LedgerItem("dynamic", f"panel:{one}", one, 100, position < named)
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
    sums = ledger_of(list(before), entries(now))
    assert (sums.hits, sums.hit_tokens, sums.miss_tokens) == (hits, 100 * hits, 100 * (len(now) - hits))


def test_going_from_a_miss_to_a_named_cache_is_the_same_items() -> None:
    assert ledger_of(list("abc"), entries("abcd", named=2)) == ledger_of(list("abc"), entries("abcd"))


def test_a_named_cache_hits_in_a_new_session_too() -> None:
    assert ledger_of([], entries("abc", named=2)).hits == 2


@given(identities, identities)
def test_the_sums_are_those_of_the_items(before: list[int], now: list[int]) -> None:
    sums = ledger_of([str(one) for one in before], entries(now))
    assert sums.hits == sum(is_hit(entry, place, sums.prefix) for place, entry in enumerate(entries(now)))
    assert sums.tokens == 100 * len(now)


@given(identities, identities, identities)
def test_a_longer_common_beginning_is_never_a_shorter_prefix(
    head: list[int], before: list[int], now: list[int]
) -> None:
    assert common_prefix(head + before, head + now) >= len(head)


@given(identities, identities)
def test_what_only_went_on_hits_whole(before: list[int], more: list[int]) -> None:
    assert ledger_of([str(one) for one in before], entries(before + more)).prefix >= len(before)


def test_a_ledger_survives_being_stored() -> None:
    sums = ledger_of(list("ab"), entries("abc"))
    assert Ledger.restored(sums.stored()) == sums
    assert Ledger.restored({}) is None
