"""`bench admin`, short."""

import pytest
from django.contrib import admin
from django.contrib.auth.models import User
from django.test import Client

from sessions_app.models import Exchange, Run, Session
from tests.bench.admin import Page, aims, all_pages, kind_of, lines, lists, read
from tests.bench.admin_rows import DAYS, IN_SESSION, Installation


@pytest.mark.slow
def test_lists_and_the_overview_are_measured() -> None:
    pages = read("sqlite", 60, 1, "exchange", "auditentry")
    assert {page.place for page in pages} == {"overview", "exchange", "auditentry"}
    assert all(page.ms > 0 and page.queries > 0 for page in pages)
    kinds = {page.kind for page in pages if page.place == "exchange"}
    assert {"plain", "sort", "filter", "search", "counts", "row"} <= kinds


@pytest.mark.django_db
def test_the_rows_are_spread_over_the_days_and_belong_together() -> None:
    Installation(3 * IN_SESSION).add(3 * IN_SESSION)
    times = list(Exchange.objects.order_by("pk").values_list("started_at", flat=True))
    assert len(times) == 3 * IN_SESSION and times == sorted(times)
    assert (times[-1] - times[0]).days in (DAYS - 2, DAYS - 1)
    assert Session.objects.count() == 3 and Run.objects.count() == 3 * IN_SESSION // 2
    assert not Exchange.objects.exclude(number__gte=1, number__lte=IN_SESSION).exists()


def test_every_list_of_the_admin_is_one() -> None:
    assert {name for name, _ in lists()} == {model._meta.model_name for model in admin.site._registry}


@pytest.mark.django_db
def test_pages_are_the_links_that_a_list_has() -> None:
    Installation(IN_SESSION).add(IN_SESSION)
    client = Client()
    client.force_login(User.objects.create_superuser("bench"))
    own = {(kind, query) for place, kind, query, _ in all_pages(client) if place == "exchange"}
    assert {("sort", "?o=-3"), ("filter", "?outcome=complete"), ("search", "?q=person-00")} <= own
    assert kind_of("?_facets=True") == "counts" and kind_of("?p=3") == "page"


def test_the_aims_are_of_the_slowest_page_and_of_queries_that_grow() -> None:
    few = [Page("run", "plain", "", 1, 5), Page("run", "sort", "?o=1", 2, 6)]
    many = [Page("run", "plain", "", 20, 5), Page("run", "sort", "?o=1", 151, 8)]
    assert [(aim.value, aim.verdict) for aim in aims("sqlite", few, many)] == [
        (151, "NOT MET"),
        (2, "NOT MET"),
    ]
    assert [aim.is_missed for aim in aims("sqlite", few, few)] == [False, False]
    assert any("?o=1" in line for line in lines(many, every=False))
