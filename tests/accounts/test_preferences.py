"""The view that a person has chosen."""

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from sessions_app.models import Preferences, ViewMode
from tests import factories

HTMX = {"HX-Request": "true"}


def view_of(client: Client, address: str = "/") -> str:
    page = client.get(address).content.decode()
    return page.partition('data-view="')[2].partition('"')[0]


def test_a_person_who_has_not_chosen_has_the_simple_view(client: Client, alice: User) -> None:
    assert view_of(client) == "simple"
    assert not Preferences.objects.exists()


def test_a_choice_holds_on_every_page_and_is_replaced(client: Client, alice: User) -> None:
    session = factories.make_session(alice)
    for chosen in ("inspect", "simple", "inspect"):
        assert client.post(reverse("set-view"), {"view": chosen}, headers=HTMX).status_code == 204
        assert view_of(client) == view_of(client, session.get_absolute_url()) == chosen
    assert Preferences.objects.count() == 1


def test_a_choice_is_of_one_person(client: Client, stranger: Client) -> None:
    client.post(reverse("set-view"), {"view": "inspect"})
    assert (view_of(client), view_of(stranger)) == ("inspect", "simple")


@pytest.mark.parametrize(
    ("following", "leads_to"), [("/spending/", "/spending/"), ("https://example.org/", "/"), ("", "/")]
)
def test_without_scripts_the_way_leads_back_to_a_page_of_ours(
    client: Client, following: str, leads_to: str
) -> None:
    answer = client.post(reverse("set-view"), {"view": "inspect", "next": following})
    assert (answer.status_code, answer["Location"]) == (302, leads_to)


@pytest.mark.parametrize("view", ["", "everything"])
def test_another_view_does_not_exist(client: Client, view: str) -> None:
    assert client.post(reverse("set-view"), {"view": view}).status_code == 400
    assert not Preferences.objects.exists()


def test_nobody_chooses_for_nobody() -> None:
    assert Client().post(reverse("set-view"), {"view": "inspect"}).status_code in (302, 403)


def test_a_row_of_another_version_is_the_default(client: Client, alice: User) -> None:
    Preferences.objects.create(user=alice, view_mode="telepath")
    assert Preferences.objects.view_mode_of(alice.pk) is ViewMode.SIMPLE
    assert view_of(client) == "simple"
