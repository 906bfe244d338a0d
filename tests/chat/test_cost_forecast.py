"""What the next answer will roughly cost, and for how long: the arithmetic and what it is read from."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.chat.cost_forecast import (
    CostForecast,
    Estimate,
    LastExchange,
    LiveCache,
    estimate_next,
    rounded_usd,
    time_left,
)
from sessions_app.models import Allowance, CacheEntry, Exchange, Session, Spending
from sessions_app.prompt.caching import VerdictCode
from sessions_app.prompt.pricing import Rates, TermKind
from tests import factories
from tests.prices import SEEDED, make_price

NOW = datetime(2026, 11, 21, 9, tzinfo=UTC)
RATES = Rates(Decimal("0.50"), Decimal("0.05"), Decimal(3), Decimal(1))
LAST = LastExchange(
    prompt=10_000,
    cached=0,
    output=400,
    thoughts=100,
    before=None,
    verdict=VerdictCode.FIRST,
    is_named=False,
    same_model=True,
    ended=NOW,
)


def expected(kept: LiveCache | None = None, minimum: int | None = 4_096, **changes: Any) -> Estimate:
    return estimate_next(replace(LAST, **changes), RATES, minimum, kept)


def test_the_next_prompt_is_the_last_one_with_its_answer() -> None:
    found = expected()
    assert (found.prompt, found.answer) == (10_400, 500)


def test_an_explicit_cache_is_warm_until_just_before_its_end() -> None:
    found = expected(LiveCache(8_000, NOW + timedelta(minutes=5)))
    assert (found.kind, found.cached, found.share, found.seconds(NOW)) == ("explicit", 8_000, 76, 290)
    assert found.warm and [(term.name, term.tokens) for term in found.warm.terms] == [
        (TermKind.NEW, 2_400),
        (TermKind.CACHED, 8_000),
        (TermKind.OUTPUT, 500),
    ]
    assert found.recreation_usd == Decimal("0.00400000")


def test_without_one_the_provider_keeps_a_prefix_for_a_while() -> None:
    found = expected()
    assert (found.kind, found.cached, found.seconds(NOW)) == ("implicit", 10_000, 300)
    assert found.seconds(NOW + timedelta(hours=1)) == 0


@pytest.mark.parametrize(
    ("changes", "cached"),
    [
        ({"verdict": "hit", "cached": 4_500, "before": 9_000}, 5_000),
        ({"verdict": "layer_changed", "cached": 0, "before": 9_000}, 10_000),
        ({"verdict": "hit", "cached": 4_500, "before": 9_000, "is_named": True}, 10_000),
        ({"verdict": "hit", "cached": 9_900, "before": 9_000}, 10_000),
    ],
)
def test_the_share_is_what_the_provider_reused_the_last_time(changes: dict[str, Any], cached: int) -> None:
    assert expected(**changes).cached == cached


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ({"minimum": None}, "not_known"),
        ({"minimum": 20_000}, "too_short"),
        ({"same_model": False}, "other_model"),
        ({"verdict": "provider_miss", "before": 9_000}, "unused"),
    ],
)
def test_what_nobody_keeps_is_not_warm_and_says_why(changes: dict[str, Any], kind: str) -> None:
    found = expected(**changes)
    assert (found.kind, found.cached, found.until, found.recreation_usd) == (kind, 0, None, None)


def test_a_prompt_of_the_minimum_is_kept() -> None:
    assert (expected(minimum=10_000).kind, expected(minimum=10_001).kind) == ("implicit", "too_short")


def test_the_answer_costs_what_the_last_one_did_with_its_thoughts() -> None:
    assert expected().answer_usd == 500 * RATES.output / 1_000_000


def test_nothing_is_a_share_of_nothing() -> None:
    found = expected(prompt=0, output=0)
    assert (found.share, found.seconds(NOW)) == (0, 0)


def test_without_a_price_there_are_tokens_and_no_sum() -> None:
    found = estimate_next(LAST, None, 4_096, None)
    assert (found.warm, found.cold, found.answer_usd, found.share) == (None, None, None, 96)
    assert estimate_next(LAST, None, 4_096, LiveCache(8_000, NOW)).recreation_usd is None


@given(st.integers(1, 10**6), st.integers(0, 10**6), st.integers(0, 10**6))
def test_warm_never_costs_more_than_cold(prompt: int, output: int, kept: int) -> None:
    found = expected(LiveCache(kept, NOW), prompt=prompt, output=output)
    assert found.warm and found.cold and found.warm.total <= found.cold.total
    assert 0 <= found.cached <= found.prompt and 0 <= found.share <= 100


@pytest.mark.parametrize(
    ("usd", "words"),
    [
        ("12.346", "$12.35"),
        ("1", "$1.00"),
        ("0.000001", "$0.0000010"),
        ("0.31249", "$0.31"),
        ("0.0998", "$0.10"),
        ("0.00412", "$0.0041"),
        ("0.00000049", "<$0.000001"),
        (None, "unknown"),
    ],
)
def test_a_rough_sum_has_two_digits(usd: str | None, words: str) -> None:
    assert rounded_usd(Decimal(usd) if usd else None) == words


@pytest.mark.parametrize(("seconds", "words"), [(190, "3:10"), (3_725, "1:02:05"), (-4, "0:00")])
def test_what_is_left_is_a_clock(seconds: int, words: str) -> None:
    assert time_left(timedelta(seconds=seconds)) == words


@pytest.fixture
def session(alice: User) -> Session:
    make_price(factories.MODEL)
    session = factories.make_session(alice)
    factories.answered(session, "Hello", "Hi")
    return Session.objects.get(pk=session.pk)


def keep(session: Session, *, minutes: float = 5, **fields: Any) -> CacheEntry:
    entry = CacheEntry.objects.create(
        **{"fingerprint": "f" * 64, "route": "r", "model": session.model, "name": "cachedContents/a"}
        | fields,
        tokens=1_000,
        expires_at=timezone.now() + timedelta(minutes=minutes),
    )
    entry.add_session(session.pk)
    return entry


def test_a_new_session_has_no_estimate_yet(alice: User) -> None:
    assert CostForecast.of(factories.make_session(alice)).estimate is None


def test_the_estimate_follows_the_cache_of_the_session(session: Session) -> None:
    keep(session)
    found = CostForecast.of(session)
    assert found.estimate and (found.estimate.kind, found.estimate.cached) == ("explicit", 1_000)
    assert found.left.startswith("4:") and found.warm < found.cold


@pytest.mark.parametrize("gone", [{"minutes": -1}, {"state": "gone"}, {"model": "another"}])
def test_a_cache_that_the_next_request_cannot_name_is_passed_over(
    session: Session, gone: dict[str, Any]
) -> None:
    keep(session, **gone)
    found = CostForecast.of(session).estimate
    assert found and found.kind == "too_short"


def test_the_estimate_is_of_the_branch_in_view(session: Session) -> None:
    answer = session.head
    newer = factories.answered(session, "More", "Yes")
    Exchange.objects.filter(pk=newer.pk).update(prompt_tokens=9_000)
    session.switch_branch(answer)
    found = CostForecast.of(session).estimate
    assert found and found.prompt == 1_204 + 96


def test_the_answer_may_make_the_next_prompt_a_long_one(session: Session) -> None:
    """It is charged at the second tier throughout, though the last one was not."""
    make_price(session.model, SEEDED, above=1_204, input_above="4", cached_above="0.4", output_above="18")
    found = CostForecast.of(session).estimate
    assert found and found.prompt > 1_204 and found.rates
    assert (found.rates.input, found.rates.output) == (Decimal(4), Decimal(18))


def test_a_cache_that_is_being_made_is_looked_at_again(session: Session, client: Client) -> None:
    Exchange.objects.update(cache_action="create")
    assert CostForecast.of(session).is_cache_pending
    assert "load delay:2s" in client.get(reverse("outlook", args=[session.public])).content.decode()
    Exchange.objects.update(ended_at=timezone.now() - timedelta(minutes=1))
    assert not CostForecast.of(session).is_cache_pending


def test_the_budget_that_ends_first_is_named_and_a_near_end_warns(session: Session, client: Client) -> None:
    Allowance.objects.create(owner=session.owner, usd_per_day=1, usd_per_month=100)
    Spending.objects.create(owner=session.owner, day=timezone.now().date(), model="m", usd="0.9")
    page = client.get(reverse("outlook", args=[session.public])).content.decode()
    assert "$0.1000 of budget left" in page and "90 % of your budget for today is spent" in page


def test_the_session_so_far_is_never_nothing_where_prices_are_missing(session: Session) -> None:
    session.prompt_tokens, session.cached_tokens, session.unpriced = 2_000, 1_500, 1
    assert (CostForecast.of(session).spent, CostForecast.of(session).share) == ("cost unknown", 75)
    session.spent_usd = Decimal("0.02")
    assert CostForecast.of(session).spent == "≥\xa0$0.0200"
    session.unpriced = 0
    assert CostForecast.of(session).spent == "$0.0200"


def test_the_news_bring_the_line_and_the_sum_in_the_header(session: Session, client: Client) -> None:
    page = client.get(reverse("outlook", args=[session.public])).content.decode()
    assert 'id="outlook"' in page and 'hx-swap-oob="true"' in page and "Next, nothing cached:" in page


def test_an_outlook_costs_three_statements(session: Session, django_assert_num_queries: Any) -> None:
    factories.make_history(session, 5)
    found = Session.objects.select_related("head").get(pk=session.pk)
    CostForecast.of(found)
    with django_assert_num_queries(3):
        CostForecast.of(found)
