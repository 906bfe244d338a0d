"""PIPEWEB_SECOND_FACTOR: who has to have a second factor sees nothing else before it is set up."""

import pytest
from django.contrib.auth.models import User
from django.urls import reverse
from pytest_django import Settings

from sessions_app.accounts.sign_ins import signed_in_users
from sessions_app.models import SignInLink
from tests.team.people import Person, is_signed_in


@pytest.fixture(params=["staff", "everybody"])
def asked(
    request: pytest.FixtureRequest, alice_at: Person, settings: Settings, transactional_db: None
) -> Person:
    settings.PIPEWEB_SECOND_FACTOR = request.param
    if request.param == "staff":
        User.objects.filter(pk=alice_at.user.pk).update(is_staff=True)
    alice_at.sign_in()
    return alice_at


def test_every_page_leads_to_the_set_up(asked: Person) -> None:
    for path in (reverse("home"), reverse("admin:index"), reverse("own-data"), "/nowhere"):
        assert asked.client.get(path)["Location"] == reverse("security")
    scripted = asked.client.get(reverse("home"), headers={"HX-Request": "true"})
    assert scripted.status_code == 403 and scripted["HX-Redirect"] == reverse("security")
    assert asked.client.post("/new").status_code == 403
    assert signed_in_users([str(asked.client.session.session_key)]) == {}
    assert asked.client.get(reverse("security")).context["must_set_up"]


def test_once_it_is_set_up_everything_opens_and_it_stays(asked: Person) -> None:
    asked.turn_on()
    assert is_signed_in(asked.client)
    assert signed_in_users([str(asked.client.session.session_key)])
    assert asked.client.post(reverse("mfa_deactivate_totp")).status_code == 200
    assert is_signed_in(asked.client)


def test_who_came_by_a_link_and_has_no_password_sees_the_codes_at_once(
    alice_at: Person, settings: Settings, transactional_db: None
) -> None:
    settings.PIPEWEB_SECOND_FACTOR = "everybody"
    alice_at.user.set_unusable_password()
    alice_at.user.save()
    alice_at.client.post(reverse("sign-in-link", args=[SignInLink.issue(alice_at.user)]))
    assert alice_at.client.get(reverse("home"))["Location"] == reverse("security")
    alice_at.turn_on()
    assert len(alice_at.recovery) == 10 and is_signed_in(alice_at.client)


def test_others_are_asked_for_nothing(alice_at: Person, settings: Settings) -> None:
    settings.PIPEWEB_SECOND_FACTOR = "staff"
    alice_at.sign_in()
    assert is_signed_in(alice_at.client)
