from collections.abc import Callable
from dataclasses import replace
from datetime import date
from decimal import Decimal
from importlib import import_module
from types import SimpleNamespace

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import transaction
from django.db.models import ProtectedError

from sessions_app.catalogue import CATALOGUE
from sessions_app.catalogue.entries import price
from sessions_app.errors import PriceUsed
from sessions_app.models import Booking, Price, SeededPrice
from sessions_app.models.price import seed_prices
from tests.factories import make_exchange, make_run, make_session
from tests.prices import make_price

DAY = date(2026, 11, 21)


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


def test_the_seeded_prices_are_those_of_the_reference() -> None:
    seeds = import_module("sessions_app.migrations.0006_prices")
    listed = {(row[0], row[1]): row for row in seeds.ROWS}
    assert listed["gemini-4-argon", date(2026, 10, 13)][2:5] == ("2.00", "0.10", "10.00")
    assert listed["gemini-4-argon", date(2026, 12, 1)][2:5] == ("4.00", "0.20", "20.00")
    assert listed["gemini-3.8-flash", date(2027, 1, 1)][2:6] == ("1.50", "0.15", "7.50", "1.00")


@pytest.fixture(params=["exchange", "booking"])
def used(alice: User, request: pytest.FixtureRequest) -> Price:
    """A price that an exchange, or a cache, was charged at."""
    price = make_price(MODEL)
    if request.param == "exchange":
        make_exchange(make_run(make_session(alice)), price=price)
    else:
        Booking.objects.create(price=price, day=DAY, model=MODEL, cause="cache_made")
    return price


def test_a_used_price_is_never_saved_again(used: Price) -> None:
    used.input = Decimal(5)
    with pytest.raises(PriceUsed):
        used.save()


CHANGES: dict[str, Callable[[Price], object]] = {
    "update": lambda used: Price.objects.update(input=5),
    "bulk_update": lambda used: Price.objects.bulk_update([used], ["input"]),
    "update_or_create": lambda used: Price.objects.update_or_create(
        model=used.model, valid_from=used.valid_from, defaults={"input": 5}
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_no_query_changes_a_used_price(used: Price, change: str) -> None:
    used.input = Decimal(5)
    with pytest.raises(PriceUsed), transaction.atomic():
        CHANGES[change](used)
    assert Price.objects.get(pk=used.pk).input == Decimal("0.50")


def test_a_used_price_is_not_deleted(used: Price) -> None:
    with pytest.raises(ProtectedError):
        used.delete()


def test_a_correction_is_a_row_of_a_later_day(used: Price) -> None:
    later = Price.objects.create(model=MODEL, valid_from=DAY, input=5, cached=1, output=2)
    assert Price.objects.of(MODEL, DAY) == later


def test_an_unused_price_can_be_corrected(db: None) -> None:
    price = make_price(MODEL)
    price.input = Decimal(5)
    price.save()
    assert Price.objects.filter(pk=price.pk).update(output=7) == 1


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
