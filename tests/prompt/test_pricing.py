from decimal import Decimal
from pathlib import Path

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.prompt.pricing import (
    MILLION,
    SMALLEST,
    Budget,
    BudgetScope,
    Money,
    Rates,
    Searches,
    TermKind,
    cost,
    creation_cost,
    dollars,
    format_rate,
    price_names,
    storage_cost,
)
from sessions_app.prompt.reply import Usage, fold
from tests.prompt.test_recordings import AUTHENTIC, bodies, exchanges

SONNET = Rates(Decimal(3), Decimal("0.30"), Decimal(15), Decimal(1))
"""Context Pilot's example prices (B3)."""

counts = st.integers(0, 2_000_000)
usages = st.builds(
    Usage, prompt=counts, cached=counts, output=counts, thoughts=counts, tool_use=counts
).filter(lambda usage: usage.cached <= usage.prompt)


def test_context_pilots_example_of_a_miss_and_a_hit() -> None:
    assert cost(Usage(prompt=10_000), SONNET).total == Decimal("0.0375") - Decimal("0.0075")
    assert cost(Usage(prompt=10_000, cached=10_000), SONNET).total == Decimal("0.003")


@given(usages)
def test_the_terms_add_up_to_the_total(usage: Usage) -> None:
    money = cost(usage, SONNET)
    assert abs(sum(term.usd for term in money.terms) - money.total) <= SMALLEST / 2


@given(usages)
def test_every_token_is_charged_once(usage: Usage) -> None:
    charged = sum(term.tokens for term in cost(usage, SONNET).terms)
    assert charged == usage.prompt + usage.output + usage.thoughts + usage.tool_use


@given(usages, st.integers(0, 1_000_000))
def test_a_cached_token_never_costs_more_than_a_new_one(usage: Usage, more: int) -> None:
    warmer = Usage(usage.prompt, min(usage.prompt, usage.cached + more), usage.output, usage.thoughts)
    colder = Usage(usage.prompt, usage.cached, usage.output, usage.thoughts)
    assert cost(warmer, SONNET).total <= cost(colder, SONNET).total


def test_more_cached_than_sent_is_not_a_gain() -> None:
    assert cost(Usage(prompt=10, cached=20), SONNET).total == 10 * SONNET.cached / MILLION


def test_no_recorded_token_is_charged_twice_or_never(recordings: Path) -> None:
    told = [one for one in exchanges(recordings) if one["status"] == 200 and AUTHENTIC & set(one["tags"])]
    usages = [usage for one in told if (usage := fold(bodies(one)).usage).prompt]
    charged = [sum(term.tokens for term in cost(usage, SONNET).terms) for usage in usages]
    assert charged == [usage.total for usage in usages]
    assert len(usages) > 60 and any(usage.cached for usage in usages)


def test_a_sum_has_a_term_for_each_kind_that_was_counted() -> None:
    money = cost(Usage(prompt=11_125, cached=7_441, output=20, thoughts=409), SONNET)
    assert [(term.name, term.tokens) for term in money.terms] == [
        (TermKind.NEW, 3_684),
        (TermKind.CACHED, 7_441),
        (TermKind.OUTPUT, 20),
        (TermKind.THOUGHTS, 409),
    ]


@given(usages)
def test_money_survives_being_stored(usage: Usage) -> None:
    money = cost(usage, SONNET)
    assert Money.restored(orjson.loads(orjson.dumps(money.stored()))) == money


def test_an_unknown_price_is_not_zero() -> None:
    assert Money.restored({}) is None
    assert dollars(None) == "unknown"


def test_making_a_cache_is_charged_once_as_input_and_keeping_it_by_the_hour() -> None:
    assert creation_cost(1_000_000, SONNET).total == 3
    assert storage_cost(500_000, 2, SONNET) == 1
    assert storage_cost(500_000, 2, Rates(Decimal(1), Decimal(1), Decimal(1))) is None
    pro = Rates(Decimal(2), Decimal("0.20"), Decimal(12), Decimal("4.50"))
    assert str(storage_cost(1_000, 1 / 3, pro)) == "0.00150000"


@pytest.mark.parametrize(
    ("model", "names"),
    [
        ("models/gemini-2.5-flash", ("gemini-2.5-flash",)),
        ("gemini-2.0-flash-001", ("gemini-2.0-flash-001", "gemini-2.0-flash")),
        (
            "gemini-2.5-flash-lite-preview-09-2025",
            ("gemini-2.5-flash-lite-preview-09-2025", "gemini-2.5-flash-lite"),
        ),
        ("gemini-3-flash-preview", ("gemini-3-flash-preview",)),
    ],
)
def test_a_name_is_looked_up_with_and_without_its_revision(model: str, names: tuple[str, ...]) -> None:
    assert price_names(model) == names


@pytest.mark.parametrize(
    ("usd", "words"),
    [
        ("0", "$0.00"),
        ("1234.5", "$1,234.50"),
        ("0.41", "$0.4100"),
        ("0.0012345", "$0.0012"),
        ("0.00012", "$0.00012"),
        ("0.00000126", "$0.0000013"),
        ("-2", "−$2.00"),
    ],
)
def test_a_sum_is_as_exact_as_it_is_small(usd: str, words: str) -> None:
    assert dollars(Decimal(usd)) == words


def test_a_rate_keeps_its_cents() -> None:
    assert [format_rate(Decimal(rate)) for rate in ("0.500000", "0.0750", "12", "1E+1")] == [
        "0.50",
        "0.075",
        "12.00",
        "10.00",
    ]


@pytest.mark.parametrize(
    "money",
    [Money((), at_least=True, estimated=True), Money((), at_least=True, other_price=True)],
)
def test_an_estimate_is_no_bound_and_says_why(money: Money) -> None:
    assert money.is_estimate and not money.is_bound
    assert not Money((), at_least=True).is_estimate
    assert Money.restored(orjson.loads(orjson.dumps(money.stored()))) == money


def test_searches_are_a_term_of_their_own() -> None:
    rates = Rates(Decimal(1), Decimal("0.1"), Decimal(2))
    money = cost(Usage(prompt=1_000_000), rates, Searches(3, Decimal(14)))
    assert (money.terms[-1].name, money.terms[-1].tokens, money.terms[-1].usd) == (
        TermKind.SEARCH,
        3,
        Decimal("0.042"),
    )
    assert money.total == Decimal("1.042") and not money.is_bound
    assert Money.restored(money.stored()) == money


def test_searches_without_a_price_make_a_lower_bound() -> None:
    money = cost(Usage(prompt=1_000_000), Rates(Decimal(1), Decimal(0), Decimal(0)), Searches(3))
    assert money.total == 1 and money.unpriced_searches == 3 and money.is_bound
    assert Money.restored(money.stored()) == money


def test_one_search_without_a_price_is_one_too_many_for_an_exact_sum() -> None:
    rates = Rates(Decimal(1), Decimal(0), Decimal(0))
    assert cost(Usage(), rates, Searches(1)) == Money((), unpriced_searches=1)
    assert cost(Usage(), rates, Searches(1)).is_bound
    assert not cost(Usage(), rates, Searches(0)).is_bound
    assert Money((), at_least=True).is_bound


def test_what_an_ordinary_exchange_stores_has_no_rare_members() -> None:
    assert cost(Usage(prompt=1), SONNET).stored().keys() == {"terms", "at_least", "estimated", "source"}


def budget(spent: str, held: str = "0", limit: str = "2", warn: int = 80) -> Budget:
    return Budget(BudgetScope.TODAY, Decimal(limit), Decimal(spent), warn, held=Decimal(held))


@pytest.mark.parametrize(
    ("one", "left", "percent", "states"),
    [
        (budget("0"), "2", 0, ""),
        (budget("1.5999999"), "0.4000001", 79, ""),
        (budget("1.6"), "0.4", 80, "near"),
        (budget("1.99999999"), "0.00000001", 99, "near"),
        (budget("2"), "0", 100, "spent"),
        (budget("2.5", held="1"), "0", 125, "spent"),
        (budget("1", held="0.99"), "1", 50, ""),
        (budget("1", held="1"), "1", 50, "held"),
        (budget("1.7", held="0.5"), "0.3", 85, "held near"),
        (budget("0", limit="0"), "0", 100, "spent"),
    ],
)
def test_a_budget_is_spent_at_its_limit_and_held_where_requests_may_reach_it(
    one: Budget, left: str, percent: int, states: str
) -> None:
    found = {"held": one.is_held, "near": one.is_near, "spent": one.is_spent}
    assert (one.left, one.percent) == (Decimal(left), percent)
    assert [name for name, is_so in found.items() if is_so] == states.split()


def test_only_the_budgets_of_the_installation_are_shared() -> None:
    shared = [scope for scope in BudgetScope if Budget(scope, Decimal(1), Decimal(0), 80).is_shared]
    assert shared == [BudgetScope.INSTALLATION_TODAY, BudgetScope.INSTALLATION_MONTH]
