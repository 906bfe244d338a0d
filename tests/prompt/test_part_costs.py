"""What each part of the prompts has cost."""

from dataclasses import replace
from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from sessions_app.prompt.billing import PromptCount
from sessions_app.prompt.part_costs import CountedRequest, PartCost, PartSum, part_costs
from sessions_app.prompt.prefix_diff import LedgerItem
from sessions_app.prompt.pricing import MILLION, Money, MoneySource, PriceTerm, TermKind

NEW, CACHED = Decimal(2), Decimal("0.2")
NAMES = ("template:static", "chunk:1", "chunk:2", "panel:todos", "turn:a", "turn:b", "turn:c")


def paid(new: int, cached: int, source: MoneySource = MoneySource.PROVIDER) -> Money:
    terms = (PriceTerm(TermKind.NEW, new, NEW), PriceTerm(TermKind.CACHED, cached, CACHED))
    return Money((*terms, PriceTerm(TermKind.OUTPUT, 50, Decimal(9))), source=source)


def request(weights: dict[str, int], new: int, cached: int, money: Money | None) -> CountedRequest:
    items = [LedgerItem("any", name, name, tokens) for name, tokens in weights.items()]
    return CountedRequest(items, PromptCount(new + cached, cached), money)


requests = st.builds(
    lambda weights, new, cached: request(weights, new, cached, paid(new, cached)),
    st.dictionaries(st.sampled_from(NAMES), st.integers(0, 900), min_size=1),
    st.integers(0, 9_000),
    st.integers(0, 9_000),
)


@given(st.lists(requests, max_size=6))
def test_the_parts_sum_up_to_what_was_counted_and_paid_for_prompts(
    sent: list[CountedRequest],
) -> None:
    parts = part_costs(sent)
    counts = [one.count for one in sent]
    assert sum(part.cached for part in parts) == sum(one.cached for one in counts)
    assert sum(part.new for part in parts) == sum(one.prompt - one.cached for one in counts)
    expected = sum((one.prompt - one.cached) * NEW + one.cached * CACHED for one in counts) / MILLION
    assert sum((part.paid.usd for part in parts), Decimal(0)) == expected
    paid_for = [part.paid.usd for part in parts]
    assert paid_for == sorted(paid_for, reverse=True)


def test_turns_are_one_part_and_so_are_chunks_but_each_panel_is_its_own() -> None:
    weights = dict.fromkeys(("chunk:1", "chunk:2", "panel:todos", "panel:notes", "turn:a", "turn:b"), 100)
    (first, second) = (request(weights, 600, 0, paid(600, 0)) for _ in range(2))
    found = {part.source: part for part in part_costs([first, second])}
    assert set(found) == {"chunk", "panel:todos", "panel:notes", "turn"}
    assert (found["turn"].requests, found["turn"].new, found["panel:todos"].new) == (2, 400, 200)


def test_money_of_the_emulator_and_what_has_no_price_stand_apart() -> None:
    todos = {"panel:todos": 10}
    emulated = request(todos, 100, 0, paid(100, 0, MoneySource.EMULATOR))
    (part,) = part_costs([request(todos, 100, 0, paid(100, 0)), emulated, request(todos, 100, 0, None)])
    own = PartSum(100 * NEW / MILLION)
    assert part == PartCost("any", "panel:todos", 3, 0, 300, paid=own, emulated=own, unpriced=1)


def test_shares_of_estimates_and_of_cut_off_answers_are_counted() -> None:
    exact = paid(100, 0)
    each = [exact, replace(exact, at_least=True), replace(exact, at_least=True, other_price=True)]
    each += [replace(exact, estimated=True), replace(exact, unpriced_searches=2)]
    (part,) = part_costs(request({"panel:todos": 10}, 100, 0, money) for money in each)
    assert (part.paid.cut_off, part.paid.estimates) == (1, 2)


def test_what_the_emulator_counted_weighs_as_much_as_what_was_paid() -> None:
    dear = request({"panel:files": 10}, 300, 0, paid(300, 0, MoneySource.EMULATOR))
    cheap = request({"panel:todos": 10}, 100, 0, paid(100, 0))
    assert [part.source for part in part_costs([cheap, dear])] == ["panel:files", "panel:todos"]
