from dataclasses import replace
from datetime import date
from decimal import Decimal
from typing import Any

import pytest
from django.conf import settings

from sessions_app.catalogue import CATALOGUE, FLASH_3
from sessions_app.catalogue.entries import CatalogueModel, LifecycleChange, build_catalogue, price

DAY = date(2026, 11, 1)
PRICE = price(DAY, "1 0.1 2", storage=None, source="a page")
ROUTED = LifecycleChange(valid_from=DAY, source="a page", served_by="gemini-9", successor="gemini-9")
COMPLETE = CatalogueModel("gemini-9", "Gemini 9", 9.0, FLASH_3, prices=(PRICE,))


@pytest.mark.parametrize(
    ("change", "missing"),
    [
        ({"title": ""}, "title"),
        ({"prices": ()}, "prices"),
        ({"lifecycle": (replace(ROUTED, served_by="gemini-8"),)}, "served_by"),
        ({"lifecycle": (replace(ROUTED, successor="gemini-8"),)}, "successor"),
        ({"lifecycle": (replace(ROUTED, source=""),)}, "source"),
        ({"lifecycle": (ROUTED, ROUTED)}, "valid_from"),
        ({"prices": (replace(PRICE, source=""),)}, "source"),
        ({"prices": (PRICE, PRICE)}, "valid_from"),
        ({"traits": replace(FLASH_3, levels=())}, "levels"),
    ],
)
def test_an_incomplete_entry_is_refused_with_its_name_and_what_is_missing(
    change: dict[str, Any], missing: str
) -> None:
    with pytest.raises(ValueError, match=f"gemini-9: .*{missing}"):
        build_catalogue([replace(COMPLETE, **change)])


def test_a_name_is_listed_once() -> None:
    with pytest.raises(ValueError, match="gemini-9"):
        build_catalogue([COMPLETE, COMPLETE])


def test_an_alias_needs_no_prices_of_its_own() -> None:
    alias = replace(COMPLETE, name="gemini-latest", lifecycle=(ROUTED,), prices=())
    assert list(build_catalogue([COMPLETE, alias])) == ["gemini-9", "gemini-latest"]


def test_a_name_is_routed_from_its_day_on() -> None:
    back = LifecycleChange(valid_from=date(2027, 1, 1), source="a page")
    alias = replace(COMPLETE, name="gemini-latest", lifecycle=(back, ROUTED))
    days = (date(2026, 10, 31), DAY, date(2026, 12, 31), date(2027, 1, 1))
    assert [alias.served_by_on(day) for day in days] == [
        "gemini-latest",
        "gemini-9",
        "gemini-9",
        "gemini-latest",
    ]


def test_what_was_announced_is_listed() -> None:
    shut_down = date(2026, 12, 1)
    for name, successor in (
        ("gemini-2.5-pro", "gemini-3.8-flash"),
        ("gemini-2.5-flash", "gemini-3.5-flash-lite"),
    ):
        (change,) = CATALOGUE[name].lifecycle
        assert (change.valid_from, change.is_retired) == (shut_down, True)
        assert change.successor == CATALOGUE[name].served_by_on(shut_down) == successor
    assert not CATALOGUE["gemini-2.5-flash-lite"].lifecycle


def test_the_promotion_of_3_6_flash_ends_with_the_year() -> None:
    model = CATALOGUE["gemini-3.6-flash"]
    now, then = model.price_on(date(2026, 12, 31)), model.price_on(date(2027, 1, 1))
    assert now and then
    assert (now.input, now.cached, now.output) == (Decimal("0.75"), Decimal("0.075"), Decimal("3.75"))
    assert (then.input, then.cached, then.output) == (Decimal("1.50"), Decimal("0.15"), Decimal("7.50"))


def test_the_default_model_is_one_that_stays() -> None:
    entry = CATALOGUE[settings.PIPEWEB_MODEL]
    assert not entry.lifecycle and "preview" not in entry.name


def test_the_newest_valid_price_holds() -> None:
    later = replace(PRICE, valid_from=date(2027, 1, 1), input=Decimal(3))
    entry = replace(COMPLETE, prices=(later, PRICE))
    assert entry.price_on(date(2026, 10, 31)) is None
    assert entry.price_on(DAY) == PRICE
    assert entry.price_on(date(2027, 1, 1)) == later


def test_long_prompts_have_rates_of_their_own() -> None:
    tiered = price(DAY, "2 0.2 12", storage="4.50", source="a page", long_prompts="4 0.4 18")
    assert tiered.above == 200_000
    assert (tiered.input_above, tiered.output_above) == (Decimal(4), Decimal(18))
    assert (PRICE.above, PRICE.input_above) == (None, None)
