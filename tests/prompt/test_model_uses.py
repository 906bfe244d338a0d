from decimal import Decimal
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from sessions_app.prompt.model_uses import PriceClass, price_class
from sessions_app.prompt.pricing import Rates

ORDER = [PriceClass.LOWEST, PriceClass.LOW, PriceClass.MIDDLE, PriceClass.HIGH, PriceClass.HIGHEST]


def rates(cents: int) -> Rates:
    return Rates(Decimal(cents), Decimal(0), Decimal(cents))


@given(st.lists(st.integers(0, 50), min_size=2, max_size=12))
def test_a_dearer_model_is_never_called_cheaper(costs: list[int]) -> None:
    offered = [rates(cost) for cost in costs]
    ranks = [(cost, ORDER.index(price_class(rates(cost), offered))) for cost in sorted(costs)]
    assert all(one[1] <= next_one[1] for one, next_one in pairwise(ranks))


@given(st.lists(st.integers(0, 50), min_size=2, max_size=12, unique=True))
def test_only_the_ends_are_the_cheapest_and_the_most_expensive(costs: list[int]) -> None:
    offered = [rates(cost) for cost in costs]
    found = {cost: price_class(rates(cost), offered) for cost in costs}
    assert [cost for cost, what in found.items() if what is PriceClass.LOWEST] == [min(costs)]
    assert [cost for cost, what in found.items() if what is PriceClass.HIGHEST] == [max(costs)]


def test_where_all_cost_the_same_none_is_cheap() -> None:
    assert price_class(rates(3), [rates(3), rates(3)]) is PriceClass.MIDDLE


def test_an_unknown_price_is_called_unknown() -> None:
    assert price_class(None, [rates(3)]) is PriceClass.UNKNOWN
