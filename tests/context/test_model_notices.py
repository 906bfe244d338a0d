"""What is told of a model, from rows: seeded ones, and those that an admin entered or corrected."""

from collections.abc import Iterator
from datetime import date, timedelta

import pytest
from pytest_django import DjangoAssertNumQueries

from sessions_app.catalogue import CATALOGUE, today
from sessions_app.context.model_lookup import clear_caches, model_names
from sessions_app.context.model_notices import notices_of
from sessions_app.models import ModelLifecycle
from sessions_app.prompt.model_notices import NoticeCode
from tests.prices import make_price


@pytest.fixture(autouse=True)
def fresh(db: None) -> Iterator[None]:
    clear_caches()
    yield
    clear_caches()


def codes(model: str, day: date | None = None) -> list[NoticeCode]:
    return [notice.code for notice in notices_of(model, day)]


@pytest.mark.parametrize(
    ("model", "found"),
    [
        ("gemini-2.5-pro", [NoticeCode.RETIRES]),
        ("gemini-2.5-pro-001", [NoticeCode.RETIRES]),
        ("gemini-2.5-flash-lite", []),
        ("gemini-3.5-flash", [NoticeCode.RETIRED]),
        ("gemini-flash-latest", [NoticeCode.ROUTED, NoticeCode.PRICE_CHANGES]),
        ("gemini-flash-lite-latest", [NoticeCode.ROUTED]),
        ("gemini-3-flash-preview", []),
        ("somebody-else-7b", []),
    ],
)
def test_what_was_announced_is_told_today(model: str, found: list[NoticeCode]) -> None:
    assert codes(model) == found


def test_the_price_of_the_model_that_answers_is_told() -> None:
    """3.6 Flash is at a promotional price until the end of the year."""
    for model in ("gemini-3.6-flash", "gemini-flash-latest"):
        told = notices_of(model)[-1]
        assert (told.code, told.on) == (NoticeCode.PRICE_CHANGES, date(2027, 1, 1))
        assert told.now and told.then and told.then.input == 2 * told.now.input
    assert NoticeCode.PRICE_CHANGES not in codes("gemini-3.6-flash", date(2027, 1, 1))
    assert NoticeCode.PRICE_CHANGES not in codes("gemini-3.6-flash", date(2026, 11, 1))


def test_an_admins_row_is_told_at_once() -> None:
    make_price("gemini-9")
    assert codes("gemini-9") == []
    soon = today() + timedelta(days=3)
    row = ModelLifecycle.objects.create(model="gemini-9", valid_from=soon, is_retired=True, source="a mail")
    assert codes("gemini-9") == [NoticeCode.RETIRES]
    row.valid_from = today() + timedelta(days=300)
    row.save()
    assert codes("gemini-9") == []


def test_telling_of_all_models_takes_few_queries(
    django_assert_max_num_queries: DjangoAssertNumQueries,
) -> None:
    with django_assert_max_num_queries(3 + len(CATALOGUE)):
        for model in model_names():
            notices_of(model)
    with django_assert_max_num_queries(0):
        for model in model_names():
            notices_of(model)
