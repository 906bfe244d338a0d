from dataclasses import replace
from datetime import date
from decimal import Decimal
from typing import Any

import pytest

from sessions_app.catalogue import FLASH_3
from sessions_app.catalogue.entries import CatalogueModel, build_catalogue, price

DAY = date(2026, 11, 1)
PRICE = price(DAY, "1 0.1 2", storage=None, source="a page")
COMPLETE = CatalogueModel("gemini-9", "Gemini 9", 9.0, FLASH_3, prices=(PRICE,))


@pytest.mark.parametrize(
    ("change", "missing"),
    [
        ({"title": ""}, "title"),
        ({"prices": ()}, "prices"),
        ({"served_by": "gemini-8"}, "served_by"),
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
    alias = replace(COMPLETE, name="gemini-latest", served_by="gemini-9", prices=())
    assert list(build_catalogue([COMPLETE, alias])) == ["gemini-9", "gemini-latest"]


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
