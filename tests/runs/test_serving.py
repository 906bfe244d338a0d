"""Making and keeping a cache is booked as the model whose requests name it."""

from datetime import date, timedelta

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from sessions_app.gemini.routes import route_to
from sessions_app.models import Spending
from sessions_app.prompt.routes import family_of
from sessions_app.runs.cache_bookings import KeptCache, book_creation
from sessions_app.runs.serving import model_of_cache

DAY = date(2026, 11, 22)
ENDPOINT = "0123456789abcdef"


@pytest.mark.parametrize(
    ("model", "family", "served"),
    [
        ("gemini-3.5-flash", "gemini-3.5-flash", "gemini-3.5-flash"),
        ("gemini-3.5-flash", "gemini-3.6-flash", "gemini-3.6-flash"),
        ("gemini-flash-latest", "", "gemini-3.6-flash"),
        ("gemini-flash-latest", "g" * 90, "gemini-3.6-flash"),
    ],
)
@pytest.mark.django_db
def test_the_route_says_which_model_a_cache_is_for(model: str, family: str, served: str) -> None:
    route = route_to(ENDPOINT, family) if family else ENDPOINT
    assert model_of_cache(model, route, DAY) == served


def test_a_hashed_family_is_none() -> None:
    assert family_of(route_to(ENDPOINT, "g" * 90)) == family_of(ENDPOINT) == ""
    assert family_of(route_to(ENDPOINT, "gemini-x")) == "gemini-x"


def test_a_cache_of_an_alias_is_in_the_row_of_the_model_that_serves(alice: User) -> None:
    cache = KeptCache("c/1", "gemini-flash-latest", route_to(ENDPOINT, "gemini-3.8-flash"), 1_000_000)
    book_creation(cache, None, timedelta(hours=1), alice.pk)
    row = Spending.objects.get(day=timezone.now().date())
    assert (row.model, row.unpriced, row.caches) == ("gemini-3.8-flash", 0, 1)
    assert row.cache_usd and row.storage_usd
