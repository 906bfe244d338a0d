"""The capability table in the admin: what holds, beside what the code says."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from sessions_app.context.model_lookup import clear_caches, facts_of
from sessions_app.gemini.model_capabilities import known_models
from sessions_app.models import ModelFacts
from sessions_app.models.model_facts import LISTS

LIST = "admin:sessions_app_modelfacts_changelist"


@pytest.fixture
def root(db: None) -> Iterator[Client]:
    clear_caches()
    client = Client()
    client.force_login(User.objects.create_superuser("root"))
    yield client
    clear_caches()


def shown(root: Client) -> str:
    return root.get(reverse(LIST)).content.decode()


def test_every_model_of_the_code_is_listed(root: Client) -> None:
    page = shown(root)
    assert all(model in page for model in known_models())


def test_what_a_row_says_stands_beside_what_the_code_says(root: Client) -> None:
    ModelFacts.objects.create(model="gemini-3.8-flash", explicit_minimum=2_222)
    assert "<strong>2,222</strong> <small>(1,024)</small>" in shown(root)


def test_an_edit_holds_at_once(root: Client) -> None:
    data = {"model": "gemini-3.8-flash", "has_explicit_caches": "false", "thinking": ""}
    answer = root.post(reverse("admin:sessions_app_modelfacts_add"), data)
    assert answer.status_code == 302
    assert not facts_of("gemini-3.8-flash").has_explicit_caches


def test_a_model_nobody_listed_gets_a_line(root: Client) -> None:
    ModelFacts.objects.create(model="gemini-5-boron", note="Seen on the price page.")
    page = shown(root)
    assert "gemini-5-boron" in page and "Seen on the price page." in page


def test_each_line_leads_to_its_row_and_its_prices(root: Client) -> None:
    row = ModelFacts.objects.create(model="gemini-3.8-flash")
    page = shown(root)
    assert reverse("admin:sessions_app_modelfacts_change", args=[row.pk]) in page
    assert "/price/?q=gemini-3.8-flash" in page
    assert "modelfacts/add/?model=gemini-4-argon" in page


def test_the_page_costs_the_same_however_many_rows(
    root: Client, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for number in range(20):
        ModelFacts.objects.create(model=f"tuned-{number}")
    with django_assert_max_num_queries(9):
        shown(root)


WRONG_LISTS = ("99999", '"LOW"', '{"a": 1}', '["low"]', '["LOW", null]', '[["LOW"]]')


@pytest.mark.parametrize("field", LISTS)
@pytest.mark.parametrize("typed", WRONG_LISTS)
def test_a_list_with_other_than_known_names_is_refused(root: Client, field: str, typed: str) -> None:
    data = {"model": "gemini-3.8-flash", "thinking": "", field: typed}
    answer = root.post(reverse("admin:sessions_app_modelfacts_add"), data)
    assert answer.context["adminform"].form.errors.as_data()[field][0].code == "unknown_name"
    assert not ModelFacts.objects.exists()


@pytest.mark.parametrize("stored", [json.loads(typed) for typed in WRONG_LISTS])
def test_a_row_that_was_stored_with_other_names_fails_no_page(root: Client, stored: Any) -> None:
    ModelFacts.objects.create(model="gemini-3.8-flash", levels=stored, own_tools=stored)
    assert root.get(reverse(LIST)).status_code == 200
    assert root.get(reverse("models")).status_code == 200
    assert set(facts_of("gemini-3.8-flash").levels) <= set(LISTS["levels"])
