from collections.abc import Callable
from dataclasses import replace
from datetime import date
from decimal import Decimal
from importlib import import_module
from types import SimpleNamespace

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command

from sessions_app.catalogue import CATALOGUE
from sessions_app.catalogue.entries import price
from sessions_app.models import Price, SeededPrice, Spending
from sessions_app.models.price import SpendingKey, seed_prices
from sessions_app.prompt.reply import Usage
from tests.prices import make_price

DAY = date(2026, 11, 21)
USED = Usage(prompt=1_000, cached=400, output=20, thoughts=5)


@pytest.fixture
def prices(db: None) -> None:
    Price.objects.all().delete()
    make_price("gemini-2.5-flash", DAY, input="0.30")
    make_price("gemini-2.5-flash", date(2027, 1, 1), input="0.60")
    make_price("gemini-3.6-flash", DAY, input="0.75")


@pytest.mark.usefixtures("prices")
@pytest.mark.parametrize(
    ("model", "day", "rate"),
    [
        ("gemini-2.5-flash", DAY, "0.30"),
        ("models/gemini-2.5-flash-001", DAY, "0.30"),
        ("gemini-2.5-flash", date(2027, 5, 1), "0.60"),
        ("gemini-2.5-flash", date(2026, 12, 31), "0.30"),
    ],
)
def test_the_price_is_that_of_the_model_on_its_day(model: str, day: date, rate: str) -> None:
    price = Price.objects.of(model, day)
    assert price is not None and price.input == Decimal(rate)


@pytest.mark.usefixtures("prices")
@pytest.mark.parametrize("model", ["gemini-2.5-flash-lite", "gemini-2.5", "claude-opus", ""])
def test_another_model_has_no_price_by_likeness(model: str) -> None:
    assert Price.objects.of(model, DAY) is None


@pytest.mark.usefixtures("prices")
def test_before_the_first_price_nothing_is_known() -> None:
    assert Price.objects.of("gemini-2.5-flash", date(2026, 1, 1)) is None


@pytest.mark.usefixtures("prices")
def test_an_alias_has_the_price_of_the_model_that_serves_it() -> None:
    price = Price.objects.of("gemini-flash-latest", DAY, family="gemini-3.6-flash")
    assert price is not None and price.model == "gemini-3.6-flash"


def test_a_long_prompt_is_charged_at_the_second_tier(db: None) -> None:
    price = make_price("pro", DAY, input="2", above=200_000, input_above="4", output_above="18")
    assert [price.rates(tokens).input for tokens in (200_000, 200_001)] == [2, 4]
    assert price.rates(300_000).cached == price.cached


def test_bookings_of_a_day_add_up_in_one_row(alice: User) -> None:
    entry = SpendingKey(alice.pk, DAY, "gemini-2.5-flash")
    Spending.objects.add_exchange(entry, USED, Decimal("0.5"))
    Spending.objects.add_exchange(entry, USED, None)
    Spending.objects.add_cache(entry, made=Decimal("0.25"), kept=Decimal("0.125"))
    row = Spending.objects.get()
    assert (row.exchanges, row.unpriced, row.prompt_tokens, row.cached_tokens) == (2, 1, 2_000, 800)
    assert (row.caches, row.total) == (1, Decimal("0.875"))


def test_a_cache_that_lives_longer_is_not_made_again(alice: User) -> None:
    entry = SpendingKey(alice.pk, DAY, "m")
    Spending.objects.add_cache(entry, made=Decimal(0), kept=Decimal("0.125"))
    assert (Spending.objects.get().caches, Spending.objects.get().unpriced) == (0, 0)


def test_the_seeded_prices_are_those_of_the_reference() -> None:
    seeds = import_module("sessions_app.migrations.0006_prices")
    listed = {(row[0], row[1]): row for row in seeds.ROWS}
    assert listed["gemini-4-argon", date(2026, 10, 13)][2:5] == ("2.00", "0.10", "10.00")
    assert listed["gemini-4-argon", date(2026, 12, 1)][2:5] == ("4.00", "0.20", "20.00")
    assert listed["gemini-3.8-flash", date(2027, 1, 1)][2:6] == ("1.50", "0.15", "7.50", "1.00")


def test_a_day_that_another_process_has_begun_is_added_to(
    alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry, rows = SpendingKey(alice.pk, DAY, "m"), Spending.objects.all()
    Spending.objects.add_exchange(entry, USED, Decimal(1))
    update, answers = type(rows).update, [0]
    monkeypatch.setattr(
        type(rows), "update", lambda self, **raised: answers.pop() if answers else update(self, **raised)
    )
    rows.add_exchange(entry, USED, Decimal(1))
    assert Spending.objects.get().usd == 2


pytestmark = pytest.mark.django_db
NEW_DAY = date(2027, 6, 1)
MODEL = "gemini-3.8-flash"
NEW = price(NEW_DAY, "1 0.1 2", storage=None, source="a page")


@pytest.fixture
def publish(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Adds a price to the catalogue and migrates."""

    def published() -> None:
        entry = CATALOGUE[MODEL]
        changed = {**CATALOGUE, MODEL: replace(entry, prices=(*entry.prices, NEW))}
        monkeypatch.setattr("sessions_app.models.price.CATALOGUE", changed)
        call_command("migrate", verbosity=0)

    return published


def test_every_price_of_the_catalogue_is_in_a_new_database() -> None:
    SeededPrice.objects.all().delete()
    Price.objects.all().delete()
    seed_prices("default")
    listed = {(entry.name, price.valid_from) for entry in CATALOGUE.values() for price in entry.prices}
    assert set(Price.objects.values_list("model", "valid_from")) == listed


def test_the_first_migration_and_the_catalogue_agree() -> None:
    """Databases of both ages hold the same prices."""
    first = import_module("sessions_app.migrations.0006_prices")
    written = SimpleNamespace(rows=[])
    manager = SimpleNamespace(bulk_create=lambda rows, ignore_conflicts: written.rows.extend(rows))

    class Row(SimpleNamespace):
        objects = manager

    first.add(SimpleNamespace(get_model=lambda *_: Row), None)
    for row in written.rows:
        found = next(price for price in CATALOGUE[row.model].prices if price.valid_from == row.valid_from)
        amounts = {name: value for name, value in vars(row).items() if name not in {"model", "source"}}
        assert {name: getattr(found, name) for name in amounts} == amounts


def test_a_new_price_arrives_once_and_only_it(publish: Callable[[], None]) -> None:
    before = Price.objects.count()
    publish()
    assert Price.objects.get(model=MODEL, valid_from=NEW_DAY).input == NEW.input
    publish()
    assert Price.objects.count() == before + 1


def test_a_changed_price_keeps_its_change(publish: Callable[[], None]) -> None:
    Price.objects.filter(model=MODEL).update(input=Decimal(7))
    Price.objects.create(model=MODEL, valid_from=NEW_DAY, input=9, cached=1, output=2, source="by hand")
    publish()
    assert set(Price.objects.filter(model=MODEL).values_list("input", flat=True)) == {7, 9}


def test_a_deleted_price_stays_deleted(publish: Callable[[], None]) -> None:
    publish()
    Price.objects.filter(model=MODEL).delete()
    publish()
    assert not Price.objects.filter(model=MODEL).exists()
