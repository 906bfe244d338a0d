"""What stands in the rows after an answer: ledger, break line, verdict, money, bookings."""

from decimal import Decimal
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User

from sessions_app.gemini.routes import endpoint_of
from sessions_app.models import Booking, Exchange, Price, Run, Session, Spending
from sessions_app.prompt.prefix_diff import BreakLine, Ledger
from sessions_app.prompt.pricing import Money
from sessions_app.prompt.reply import Reply, fold
from sessions_app.runs.accounting import account_for, compare_with_previous
from tests.factories import (
    MODEL,
    USAGE,
    finish,
    make_exchange,
    make_history,
    make_run,
    make_session,
    text_chunk,
)
from tests.models.money import assert_sums_agree
from tests.prices import make_price
from tests.runs.conftest import Ask


@pytest.fixture
def price(db: None) -> Price:
    return make_price(MODEL)


def reply(*, usage: dict[str, int] | None = USAGE, text: str = "It is on time.") -> Reply:
    return fold([text_chunk(text, usage=usage)])


def asked(session: Session, **facts: Any) -> Exchange:
    exchange = make_exchange(make_run(session), **facts)
    finish(exchange.run)
    return exchange


def fresh(owner: User) -> Exchange:
    return make_exchange(make_run(make_session(owner)))


def test_the_sum_is_written_with_its_price_and_booked(alice: User, price: Price) -> None:
    exchange = fresh(alice)
    account_for(exchange, reply())
    expected = Decimal(180) * price.input + 1024 * price.cached + (96 + 40) * price.output
    assert exchange.usd == expected / 1_000_000 and exchange.price == price
    booked, session = Spending.objects.get(), Session.objects.get()
    assert (booked.owner, booked.model, booked.usd) == (alice, MODEL, exchange.usd)
    assert session.spent_usd == exchange.usd


def test_an_unknown_price_is_unknown_and_counted_so(alice: User) -> None:
    Price.objects.all().delete()
    exchange = fresh(alice)
    account_for(exchange, reply())
    assert (exchange.usd, exchange.price, exchange.money) == (None, None, {})
    assert Spending.objects.get().unpriced == 1


def test_the_served_model_is_charged_not_the_asked_one(alice: User, price: Price) -> None:
    other = make_price("gemini-9-other", input="100")
    exchange = fresh(alice)
    exchange.served_model = "models/gemini-9-other"
    account_for(exchange, reply())
    assert exchange.price == other


def test_the_cost_of_a_cut_answer_is_a_lower_bound(alice: User, price: Price) -> None:
    exchange = fresh(alice)
    account_for(exchange, reply(text="word " * 500), is_cut=True)
    money = Money.restored(exchange.money)
    assert money is not None and money.at_least and money.estimated
    assert next(term.tokens for term in money.terms if term.name == "output") > 96


def test_a_reply_without_usage_is_estimated(alice: User, price: Price) -> None:
    exchange = fresh(alice)
    account_for(exchange, reply(usage=None))
    money = Money.restored(exchange.money)
    assert money is not None and money.estimated and exchange.usd


def test_a_missing_reply_is_not_charged(alice: User, price: Price) -> None:
    account_for(fresh(alice), fold([]), is_cut=True)
    assert not Spending.objects.exists()


def test_a_history_that_only_grew_has_no_break_and_hits(alice: User) -> None:
    first, second = make_history(make_session(alice), 2)
    second.previous = first
    seen = compare_with_previous(second, None)
    assert seen is not None and seen.broken is None
    sums = Ledger.restored(second.ledger)
    assert sums is not None and sums.prefix == len(first.stored_manifest.entries)


def test_a_changed_text_shows_where(alice: User, price: Price) -> None:
    session = make_session(alice, purpose="Book flights.")
    first = asked(session)
    session.purpose = "Book trains."
    second = asked(session)
    second.previous = first
    compare_with_previous(second, price.rates(0))
    broken = BreakLine.restored(second.break_line)
    assert broken is not None and broken.layer == "static"
    assert (broken.was[:7], broken.now[:6]) == ("flights", "trains")
    assert broken.lost_tokens > 0 and Decimal(broken.usd) > 0


def test_from_a_miss_to_a_named_cache_is_no_change(alice: User) -> None:
    session = make_session(alice)
    first, second = asked(session), asked(session, cache_name="cachedContents/a")
    second.previous = first
    seen = compare_with_previous(second, None)
    assert seen is not None and seen.broken is None and seen.same_config


def test_another_model_reads_anew_though_the_bytes_are_the_same(alice: User) -> None:
    first, second = make_history(make_session(alice), 2)
    second.previous, second.model, second.served_model = first, "gemini-2.5-flash", "gemini-2.5-flash"
    seen = compare_with_previous(second, None)
    sums = Ledger.restored(second.ledger)
    assert seen is not None and seen.prefix_tokens and not seen.same_model
    assert sums is not None and sums.hits == 0


def test_a_request_after_an_answer_of_another_model_still_asks_the_same(alice: User) -> None:
    first, second = make_history(make_session(alice), 2)
    second.previous = first
    first.served_model, second.served_model = "gemini-2.5-flash", "gemini-3-flash-preview"
    second.route = f"{endpoint_of(first.route)}/gemini-2.5-flash"
    seen = compare_with_previous(second, None)
    assert seen is not None and seen.same_model and not seen.same_served


def test_two_names_of_one_serving_model_are_the_same_model(alice: User) -> None:
    first, second = make_history(make_session(alice), 2)
    second.previous, second.model = first, "gemini-flash-latest"
    first.served_model = second.served_model = "gemini-3-flash-preview"
    seen = compare_with_previous(second, None)
    assert seen is not None and seen.same_model and seen.same_served


def test_another_endpoint_keeps_other_caches(alice: User) -> None:
    first, second = make_history(make_session(alice), 2)
    second.previous, second.route = first, "another/gemini-3-flash-preview"
    seen = compare_with_previous(second, None)
    assert seen is not None and not seen.same_model


def test_comparing_costs_one_statement_and_two_more_for_a_break(
    alice: User, django_assert_num_queries: pytest.FixtureRequest
) -> None:
    first, second = make_history(make_session(alice), 2)
    second.previous = first
    with django_assert_num_queries(1):  # type: ignore[operator]
        compare_with_previous(second, None)


def test_accounting_for_an_answer_costs_six_statements(
    alice: User, price: Price, django_assert_num_queries: Any
) -> None:
    first, second = make_history(make_session(alice), 2)
    account_for(first, reply())
    second.previous = first
    with django_assert_num_queries(6):
        account_for(second, reply())


async def test_every_answer_of_a_run_is_accounted_for(ask: Ask) -> None:
    await sync_to_async(make_price)("gemini-3-flash-preview")
    await ask("Hello")
    run = await ask("And again")
    first, second = [one async for one in Exchange.objects.select_related("previous").order_by("number")]
    assert (first.previous, second.previous) == (None, first)
    assert first.verdict == "first" and second.found_verdict and second.found_verdict.seen
    assert {"send", "account"} <= {stage["name"] for stage in second.stages}
    session = await Session.objects.aget(pk=run.session_id)
    booked = Booking.objects.filter(session=session, cause="answer")
    assert sum([one.usd or 0 async for one in booked]) == sum(one.usd or 0 for one in (first, second)) > 0
    await sync_to_async(assert_sums_agree)()


async def test_an_emulated_answer_spends_no_budget(ask: Ask) -> None:
    await sync_to_async(make_price)("gemini-3-flash-preview")
    await Session.objects.aupdate(settings={"budget_usd": 0.0001})
    for text in ("Hello", "And again"):
        assert (await ask(text)).status == Run.Status.COMPLETED
    session = await Session.objects.aget()
    assert session.spent_usd == session.emulated_usd > Decimal("0.0001")


async def test_a_step_is_compared_with_the_step_before_it(ask: Ask) -> None:
    await ask("use: calculate 6*7")
    numbers = [one.previous_id async for one in Exchange.objects.order_by("number")]
    keys = [one.pk async for one in Exchange.objects.order_by("number")]
    assert numbers == [None, *keys[:-1]]
