"""What stands in the rows after an answer: verdict, loss, money, bookings."""

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import orjson
import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User

from sessions_app.models import Booking, Exchange, Price, Run, SearchPrice, Session, Spending
from sessions_app.prompt.pricing import Money
from sessions_app.prompt.reply import Reply, fold
from sessions_app.prompt.verdict import Verdict, VerdictReason
from sessions_app.runs.accounting import account_for, set_verdict
from tests.factories import (
    MODEL,
    NOW,
    USAGE,
    finish,
    make_exchange,
    make_history,
    make_run,
    make_session,
    text_chunk,
)
from tests.models.money import assert_sums_agree
from tests.prices import LONG_AGO, make_price
from tests.runs.conftest import Ask


@pytest.fixture
def price(db: None) -> Price:
    return make_price(MODEL)


def reply(*, usage: dict[str, Any] | None = USAGE, text: str = "It is on time.") -> Reply:
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


@pytest.mark.parametrize(("cached", "booked_as"), [(1_024, 1_024), (1_300, 1_204)])
def test_a_booking_has_the_counts_of_its_answer(
    alice: User, price: Price, cached: int, booked_as: int
) -> None:
    """No more is booked as cached than was read."""
    exchange = fresh(alice)
    account_for(exchange, reply(usage=USAGE | {"cachedContentTokenCount": cached}), is_cut=True)
    one = Booking.objects.get()
    assert (one.prompt_tokens, one.cached_tokens, one.output_tokens, one.thought_tokens) == (
        1_204,
        booked_as,
        96,
        40,
    )
    assert (one.exchange, one.session, one.owner) == (exchange, exchange.run.session, alice)
    assert (one.cut_off, one.cause, one.price, one.usd) == (True, "answer", price, exchange.usd)


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


@pytest.mark.parametrize(
    ("asked_for", "reported", "booked", "input_rate"),
    [
        # The emulator and a proxy may still serve a name that Google routes elsewhere.
        ("gemini-3.5-flash", "gemini-3.5-flash", "gemini-3.5-flash", "1.50"),
        ("gemini-3.5-flash", "gemini-3.6-flash", "gemini-3.6-flash", "0.75"),
        ("gemini-3.5-flash", "", "gemini-3.6-flash", "0.75"),
        ("gemini-flash-latest", "gemini-3.6-flash", "gemini-3.6-flash", "0.75"),
        ("gemini-flash-latest", "", "gemini-3.6-flash", "0.75"),
        ("gemini-3.6-flash", "models/gemini-3.6-flash-001", "gemini-3.6-flash", "0.75"),
        ("gemini-flash-latest", "gemini-flash-latest", "gemini-flash-latest", "0.75"),
        ("gemini-9-unknown", "", "gemini-9-unknown", None),
    ],
)
def test_a_name_and_the_model_behind_it_are_kept_apart(
    alice: User, asked_for: str, reported: str, booked: str, input_rate: str | None
) -> None:
    """Charged and booked as what answered by its own word; never split over two rows."""
    exchange = fresh(alice)
    exchange.model, exchange.served_model, exchange.started_at = asked_for, reported, NOW
    account_for(exchange, reply())
    assert Spending.objects.get().model == booked
    assert (exchange.price and exchange.price.input) == (input_rate and Decimal(input_rate))


def test_priced_and_unpriced_answers_of_a_model_are_one_row(alice: User) -> None:
    Price.objects.filter(model="gemini-3.6-flash").delete()
    for has_price in (False, True):
        if has_price:
            make_price("gemini-3.6-flash")
        exchange = fresh(alice)
        exchange.model, exchange.served_model = "gemini-3.5-flash", "gemini-3.6-flash"
        account_for(exchange, reply())
    row = Spending.objects.get()
    assert (row.exchanges, row.unpriced, row.model) == (2, 1, "gemini-3.6-flash")


def test_the_cost_of_a_cut_answer_is_a_lower_bound(alice: User, price: Price) -> None:
    exchange = fresh(alice)
    account_for(exchange, reply(text="word " * 500), is_cut=True)
    money = Money.restored(exchange.money)
    assert money is not None and money.is_bound and not money.estimated
    # Not our estimate of the text, which may be more than the provider counts for it.
    assert next(term.tokens for term in money.terms if term.name == "output") == 96


@pytest.mark.parametrize(
    "usage", [None, {"trafficType": 1}, {"promptTokenCount": "12", "totalTokenCount": "15"}]
)
def test_an_estimate_is_no_bound(alice: User, price: Price, usage: dict[str, Any] | None) -> None:
    exchange = fresh(alice)
    account_for(exchange, reply(usage=usage), is_cut=True)
    money = Money.restored(exchange.money)
    assert money is not None and money.estimated and not money.is_bound and exchange.usd


def test_a_reply_without_usage_is_estimated(alice: User, price: Price) -> None:
    exchange = fresh(alice)
    account_for(exchange, reply(usage=None))
    money = Money.restored(exchange.money)
    assert money is not None and money.estimated and exchange.usd


@pytest.mark.parametrize(
    ("counts", "is_other"),
    [
        ({"serviceTier": "flex"}, True),
        ({"promptTokensDetails": [{"modality": "AUDIO", "tokenCount": 90}]}, True),
        ({"serviceTier": "standard", "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 90}]}, False),
    ],
)
def test_what_may_have_another_price_is_charged_as_standard_text_and_says_so(
    alice: User, price: Price, counts: dict[str, Any], is_other: bool
) -> None:
    exchange = fresh(alice)
    account_for(exchange, reply(usage=USAGE | counts), is_cut=True)
    money = Money.restored(exchange.money)
    assert money and (money.other_price, money.is_bound) == (is_other, not is_other)


@pytest.mark.parametrize(
    ("usage", "is_cut", "booked"),
    [
        (USAGE, False, (False, False)),
        (USAGE, True, (True, False)),
        (None, False, (False, True)),
        (None, True, (False, True)),
        (USAGE | {"trafficType": "PROVISIONED_THROUGHPUT"}, True, (False, True)),
    ],
)
def test_a_booking_is_a_bound_or_an_estimate_as_its_exchange(
    alice: User, price: Price, usage: Any, is_cut: bool, booked: tuple[bool, bool]
) -> None:
    exchange = fresh(alice)
    account_for(exchange, reply(usage=usage), is_cut=is_cut)
    one, money = Booking.objects.get(), Money.restored(exchange.money)
    assert money is not None and (money.is_bound, money.is_estimate) == booked
    assert (one.cut_off, one.estimated) == booked
    assert (one.session.cut_off, one.session.estimates) == booked if one.session else False
    day = Spending.objects.get()
    assert (day.cut_off, day.estimates) == booked


def test_without_a_price_nothing_of_it_is_an_estimate(alice: User) -> None:
    Price.objects.all().delete()
    account_for(fresh(alice), reply(usage=None), is_cut=True)
    one = Booking.objects.get()
    assert (one.usd, one.cut_off, one.estimated) == (None, True, False)


def test_a_prompt_that_was_counted_and_blocked_is_charged(alice: User, price: Price) -> None:
    """200 with a block reason, its counts and no candidate (gemini-wire §4)."""
    exchange = fresh(alice)
    counts = {"promptTokenCount": 638, "totalTokenCount": 638}
    blocked = {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "usageMetadata": counts}
    account_for(exchange, fold([orjson.dumps(blocked)]))
    assert exchange.usd == 638 * price.input / 1_000_000 and Booking.objects.get().prompt_tokens == 638


@pytest.mark.parametrize(("above", "rate"), [(1_203, "4"), (1_204, "0.50")])
def test_the_tier_is_that_of_the_whole_prompt(alice: User, above: int, rate: str) -> None:
    """1,204 tokens, of which 1,024 were cached."""
    make_price(MODEL, above=above, input_above="4")
    exchange = fresh(alice)
    account_for(exchange, reply())
    assert [term["rate"] for term in exchange.money["terms"] if term["name"] == "new"] == [
        str(Decimal(rate).quantize(Decimal("0.000001")))
    ]


def test_the_day_is_that_of_the_request_and_not_of_its_end(alice: User) -> None:
    exchange = fresh(alice)
    exchange.started_at = datetime(2026, 11, 20, 23, 59, 59, tzinfo=UTC)
    exchange.ended_at = exchange.started_at + timedelta(seconds=9)
    before = make_price(MODEL)
    make_price(MODEL, date(2026, 11, 21), input="9")
    account_for(exchange, reply())
    assert (exchange.price, Booking.objects.get().day) == (before, date(2026, 11, 20))


@pytest.mark.parametrize(("model", "is_priced"), [("gemini-9-other", True), (MODEL, False)])
def test_searches_have_the_price_of_the_model_that_served(
    alice: User, price: Price, model: str, is_priced: bool
) -> None:
    SearchPrice.objects.all().delete()
    SearchPrice.objects.create(model=model, valid_from=LONG_AGO, usd=Decimal(14), per="query")
    make_price("gemini-9-other")
    exchange = fresh(alice)
    exchange.served_model = "gemini-9-other"
    queries = {"groundingMetadata": {"webSearchQueries": ["bees", "dances"]}}
    account_for(exchange, fold([text_chunk("Bees dance.", usage=USAGE, beside=queries)]))
    money, booked = Money.restored(exchange.money), Booking.objects.get()
    assert money and money.unpriced_searches == (0 if is_priced else 2)
    assert (booked.searches, booked.search_price is not None) == (2, is_priced)
    assert Decimal("0.028") in [term.usd for term in money.terms] or not is_priced


def test_a_missing_reply_is_not_charged(alice: User, price: Price) -> None:
    account_for(fresh(alice), fold([]), is_cut=True)
    assert not Spending.objects.exists()


def after(first: Exchange, **counts: Any) -> Exchange:
    """A second exchange behind the first, with these counts and its cost set."""
    second = asked(first.session, previous=first)
    for name, count in counts.items():
        setattr(second, name, count)
    return second


def test_a_loss_is_the_count_before_less_the_count_now_at_the_difference_of_prices(
    alice: User, price: Price
) -> None:
    first = asked(make_session(alice))
    first.cached_tokens = 2_994
    second = after(first, prompt_tokens=3_992, cached_tokens=0, price=price)
    set_verdict(second, Verdict(VerdictReason.LAYER_CHANGED, None, cached=0, prompt=3_992))
    exact = 2_994 * (price.input - price.cached) / 1_000_000
    assert (second.lost_tokens, second.lost_usd) == (2_994, exact.quantize(Decimal("0.00000001")))


@pytest.mark.parametrize("reason", [VerdictReason.UNKNOWN, VerdictReason.CUT_OFF, VerdictReason.NO_USAGE])
def test_under_an_unknown_verdict_the_loss_is_unknown(
    alice: User, price: Price, reason: VerdictReason
) -> None:
    second = after(asked(make_session(alice)), cached_tokens=0, price=price)
    set_verdict(second, Verdict(reason))
    assert (second.lost_tokens, second.lost_usd) == (None, None)


def test_the_first_request_of_a_branch_has_lost_nothing(alice: User) -> None:
    first = asked(make_session(alice))
    set_verdict(first, Verdict(VerdictReason.NOTHING_BEFORE, None, cached=0, prompt=9))
    assert (first.lost_tokens, first.lost_usd) == (0, Decimal(0))


def test_accounting_for_an_answer_costs_five_statements(
    alice: User, price: Price, django_assert_num_queries: Any
) -> None:
    first, second = make_history(make_session(alice), 2)
    account_for(first, reply())
    second.previous = first
    with django_assert_num_queries(5):
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


async def test_an_edit_of_the_static_text_loses_what_was_cached(ask: Ask, session: Session) -> None:
    await sync_to_async(make_price)("gemini-3-flash-preview")
    await Session.objects.filter(pk=session.pk).aupdate(background="A long story. " * 3_000)
    for words in ("Hello", "And again"):
        await ask(words)
    await Session.objects.filter(pk=session.pk).aupdate(purpose="Another one.")
    await ask("And now?")
    _, warm, cold = [one async for one in Exchange.objects.select_related("price").order_by("number")]
    assert warm.cached_tokens and warm.cached_tokens > 10_000
    assert cold.lost_tokens == warm.cached_tokens - (cold.cached_tokens or 0) > 0
    assert cold.price is not None and cold.lost_usd == (
        cold.lost_tokens * (cold.price.input - cold.price.cached) / 1_000_000
    ).quantize(Decimal("0.00000001"))
    broken = cold.found_break
    assert broken is not None and broken.source == "template:static"


async def test_a_step_is_compared_with_the_step_before_it(ask: Ask) -> None:
    await ask("use: calculate 6*7")
    numbers = [one.previous_id async for one in Exchange.objects.order_by("number")]
    keys = [one.pk async for one in Exchange.objects.order_by("number")]
    assert numbers == [None, *keys[:-1]]
