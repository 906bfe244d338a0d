"""Every amount is a booking, and every sum is that of its bookings, whatever is erased."""

import random
from collections.abc import Callable
from datetime import date, timedelta
from decimal import Decimal
from importlib import import_module
from typing import Any
from unittest.mock import Mock

import pytest
from django.apps import apps
from django.contrib.auth.models import User

from sessions_app.hosts import GOOGLE
from sessions_app.models import Booking, Exchange, Session, Spending
from sessions_app.prompt.bookings import SpendingCause
from sessions_app.prompt.pricing import MoneySource
from sessions_app.prompt.reply import Reply, fold
from sessions_app.runs import side_requests
from sessions_app.runs.accounting import account_for
from sessions_app.runs.cache_bookings import KeptCache, book_creation, book_early_end, book_extension
from sessions_app.runs.money_source import EMULATOR_ENDPOINT
from sessions_app.runs.person_erasure import erase_person
from tests.factories import MODEL, USAGE, answered, finish, make_exchange, make_run, make_session, text_chunk
from tests.models.money import NOTHING, assert_sums_agree
from tests.prices import make_price

pytestmark = pytest.mark.django_db

DAY = date(2026, 11, 21)

UNPRICED = "gemini-9-unpriced"


def booking(session: Session, cause: SpendingCause = SpendingCause.ANSWER, **facts: Any) -> Booking:
    known = {"day": DAY, "usd": Decimal("0.5")}
    return Booking.of(session, cause, MoneySource.PROVIDER, None, model=MODEL, **{**known, **facts})


def test_bookings_of_a_day_add_up_in_one_row(alice: User) -> None:
    session = make_session(alice)
    tokens: dict[str, Any] = {"prompt_tokens": 1_000, "cached_tokens": 400}
    Booking.objects.book(booking(session, **tokens), booking(session, usd=None, **tokens))
    Booking.objects.book(
        booking(session, SpendingCause.CACHE_MADE, usd=Decimal("0.25")),
        booking(session, SpendingCause.CACHE_KEPT, usd=Decimal("0.125")),
    )
    row = Spending.objects.get()
    assert (row.exchanges, row.unpriced, row.prompt_tokens, row.cached_tokens) == (2, 1, 2_000, 800)
    assert (row.caches, row.total) == (1, Decimal("0.875"))
    session.refresh_from_db()
    assert (session.spent_usd, session.unpriced) == (Decimal("0.875"), 1)


def test_the_past_is_filled_with_the_tokens_of_the_providers_tools(alice: User) -> None:
    """As counted; of an answer that broke off, as it was charged."""
    session = make_session(alice)
    counted, broken, plain = (answered(session, "What?", "That.") for _ in range(3))
    Exchange.objects.filter(pk=counted.pk).update(usage=USAGE | {"toolUsePromptTokenCount": 20_567})
    charged = {"estimated": True, "terms": [{"name": "tool use", "tokens": 300}]}
    Exchange.objects.filter(pk=broken.pk).update(usage={"toolUsePromptTokenCount": 299}, money=charged)
    Booking.objects.all().delete()
    Spending.objects.all().delete()
    Booking.objects.book(*(booking(session, exchange=one) for one in (counted, broken, plain)))
    fill = import_module("sessions_app.migrations.0116_tool_use_tokens").fill
    fill(apps, Mock(connection=Mock(alias="default")))
    assert list(Booking.objects.values_list("tool_use_tokens", flat=True)) == [20_567, 300, 0]
    assert Spending.objects.get().tool_use_tokens == 20_867


def test_a_day_that_another_process_has_begun_is_added_to(
    alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = make_session(alice)
    Booking.objects.book(booking(session))
    rows = type(Spending.objects.all())
    update, answers = rows.update, [0]
    monkeypatch.setattr(
        rows, "update", lambda self, **raised: answers.pop() if answers else update(self, **raised)
    )
    Booking.objects.book(booking(session))
    assert Spending.objects.get().usd == 1


def test_the_emulators_money_has_rows_of_its_own(alice: User) -> None:
    session = make_session(alice)
    Booking.objects.book(booking(session), booking(session, usd=Decimal(2)))
    emulated = booking(session, usd=Decimal(4))
    emulated.source = MoneySource.EMULATOR.value
    Booking.objects.book(emulated)
    assert dict(Spending.objects.values_list("source", "usd")) == {
        "provider": Decimal("2.5"),
        "emulator": Decimal(4),
    }
    session.refresh_from_db()
    assert (session.spent_usd, session.emulated_usd) == (Decimal("6.5"), Decimal(4))


def test_what_comes_too_late_for_its_session_is_booked_without_it(alice: User) -> None:
    session = make_session(alice)
    late = booking(session)
    session.erase()
    Booking.objects.book(late)
    row = Booking.objects.get()
    assert (row.session, row.owner, Spending.objects.get().usd) == (None, alice, row.usd)


def test_what_comes_too_late_for_its_person_is_nobodys(alice: User) -> None:
    session = make_session(alice)
    late = booking(session)
    erase_person(alice, by=None)
    Booking.objects.book(late, booking(session))
    assert set(Spending.objects.values_list("owner", flat=True)) == {None}
    assert_sums_agree()


def test_a_retry_is_told_from_an_answer(alice: User) -> None:
    session = make_session(alice)
    first = accounted(session)
    again = make_run(session)
    again.trigger = first.run.trigger
    again.save()
    regenerated = make_exchange(again)
    account_for(regenerated, reply())
    finish(again)
    resent = make_exchange(make_run(session), resend_of=first)
    account_for(resent, reply())
    causes = dict(Booking.objects.values_list("exchange__number", "cause"))
    assert causes == {first.number: "answer", regenerated.number: "retry", resent.number: "retry"}


def reply() -> Reply:
    return fold([text_chunk("It is on time.", usage=USAGE)])


def accounted(session: Session, **facts: Any) -> Exchange:
    exchange = make_exchange(make_run(session), **facts)
    finish(exchange.run)
    account_for(exchange, reply())
    exchange.save()
    return exchange


class Play:
    """Random spending of two people, among it erasures; each method is one thing that happens."""

    def __init__(self, seed: int, people: list[User]) -> None:
        self.chance, self.people = random.Random(seed), people
        self.sessions = [make_session(one) for one in people for _ in range(2)]
        self.caches: list[KeptCache] = []
        self.cut_off = 0

    def session(self) -> Session:
        """The row as some process read it, which may be gone by now."""
        return self.chance.choice(self.sessions)

    def answer(self) -> None:
        session = self.session()
        if not Session.objects.filter(pk=session.pk).exists():
            return
        session.refresh_from_db()
        route = self.chance.choice(["route-a", f"{EMULATOR_ENDPOINT}/m", ""])
        served = self.chance.choice([MODEL, UNPRICED])
        exchange = make_exchange(make_run(session), route=route)
        finish(exchange.run)
        exchange.served_model = served
        exchange.started_at -= timedelta(days=self.chance.randrange(3))
        if self.chance.random() < 0.2:
            exchange.resend_of = session.exchanges.first()
        is_cut = self.chance.random() < 0.2
        self.cut_off += is_cut
        account_for(exchange, reply(), is_cut=is_cut)
        exchange.save()

    def side_request(self) -> None:
        cause = self.chance.choice([SpendingCause.TITLE, SpendingCause.SUMMARY])
        gateway = Mock(route="route-a", base_url=GOOGLE)
        side_requests.Paying(self.session(), cause, gateway, None).book(reply(), b"{}")

    def make_cache(self) -> None:
        name = f"cachedContents/{len(self.caches)}"
        cache = KeptCache(name, MODEL, self.chance.choice(["route-a", f"{EMULATOR_ENDPOINT}/m"]), 4_113)
        self.caches.append(cache)
        book_creation(cache, self.session(), timedelta(seconds=self.chance.uniform(1, 9_000)))

    def change_cache(self) -> None:
        if self.caches:
            gained = timedelta(seconds=self.chance.uniform(-4_000, 4_000))
            payer = self.chance.choice([self.session(), None])
            book_extension(self.chance.choice(self.caches), payer, None, gained)

    def end_cache(self) -> None:
        if self.caches:
            book_early_end(self.caches.pop(), None, timedelta(seconds=self.chance.uniform(0, 9_000)))

    def erase_session(self) -> None:
        session = self.session()
        if Session.objects.filter(pk=session.pk).exists():
            Session.objects.get(pk=session.pk).erase()

    def erase_person(self) -> None:
        if len(self.people) > 1:
            erase_person(self.people.pop(), by=None)

    def steps(self) -> list[Callable[[], None]]:
        often = [self.answer, self.side_request, self.make_cache, self.change_cache, self.end_cache]
        return [*often * 6, self.erase_session, self.erase_person]


@pytest.mark.parametrize("seed", range(12))
def test_all_sums_agree_to_the_last_digit(alice: User, bob: User, seed: int) -> None:
    make_price(MODEL, input="0.30", cached="0.030001", output="2.50", storage="1.000003")
    play = Play(seed, [alice, bob])
    for _ in range(40):
        step = play.chance.choice(play.steps())
        before = team_total()
        step()
        assert_sums_agree()
        if step.__name__.startswith("erase"):
            assert team_total() == before
    counted = sum(row.unpriced for row in Spending.objects.all())
    assert counted == Booking.objects.filter(usd=None).count()
    assert sum(row.cut_off for row in Spending.objects.all()) == play.cut_off
    assert Booking.objects.exists()


def team_total() -> Decimal:
    return sum((row.total for row in Spending.objects.all()), NOTHING)
