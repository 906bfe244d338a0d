"""Signing in with an OpenID Connect provider: who somebody of the provider is here."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import httpx2
import pytest
from allauth.account.models import EmailAddress
from allauth.socialaccount.models import SocialAccount
from django.conf import settings as project
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from pipeweb.team import team_settings
from sessions_app.accounts.sign_ins import SignInWay
from sessions_app.errors import SettingsError
from sessions_app.log_codes import LoggedAction
from sessions_app.models import AuditEntry
from tests.team.fake_provider import CLIENT, SECRET, FakeProvider, running
from tests.team.people import Person, is_signed_in

ALICE = {
    "sub": "a-1",
    "preferred_username": "alice.l",
    "email": "alice@example.org",
    "email_verified": True,
}


@pytest.fixture
def provider(settings: Settings) -> Iterator[FakeProvider]:
    with running() as found:
        (app,) = getattr(project, "SOCIALACCOUNT_PROVIDERS")["openid_connect"]["APPS"]  # noqa: B009
        named = {**app, "client_id": CLIENT, "secret": SECRET}
        named["settings"] = {**app["settings"], "server_url": found.url}
        settings.SOCIALACCOUNT_PROVIDERS = {"openid_connect": {"APPS": [named]}}
        found.person = dict(ALICE)
        yield found


def come(client: Client, **query: str) -> Any:
    """From the button to the provider, where the person agrees, and back."""
    place = reverse("openid_connect_login", kwargs={"provider_id": project.OIDC_PROVIDER_ID})
    there = client.get(place, query)["Location"]
    back = urlsplit(httpx2.get(there).headers["Location"])
    return client.get(back.path, dict(parse_qsl(back.query)))


def confirm(user: User, email: str = "alice@example.org") -> None:
    User.objects.filter(pk=user.pk).update(email=email)
    EmailAddress.objects.create(user=user, email=email, verified=True, primary=True)


def test_a_confirmed_address_on_both_sides_leads_to_the_account(provider: FakeProvider, alice: User) -> None:
    confirm(alice)
    browser = Client()
    assert come(browser).status_code == 302 and is_signed_in(browser)
    assert browser.session["_auth_user_id"] == str(alice.pk) and User.objects.count() == 1
    alice.refresh_from_db()
    assert alice.check_password("wonderland"), "the password still works"
    assert SocialAccount.objects.get().user == alice
    actions = AuditEntry.objects.filter(action=LoggedAction.PROVIDER_CONNECTED)
    assert actions.get().person_key == alice.pk
    assert AuditEntry.objects.filter(action=LoggedAction.SIGNED_IN).get().figures == {
        "way": SignInWay.PROVIDER
    }


@pytest.mark.parametrize("verified", [False, "true", "false", None])
def test_what_the_provider_has_not_confirmed_leads_nowhere(
    provider: FakeProvider, alice: User, settings: Settings, verified: object
) -> None:
    settings.PIPEWEB_REGISTRATION = "provider"
    confirm(alice)
    provider.person["email_verified"] = verified
    browser = Client()
    assert come(browser).status_code == 403
    assert not is_signed_in(browser) and User.objects.count() == 1


def test_what_was_not_confirmed_here_leads_nowhere(
    provider: FakeProvider, alice: User, settings: Settings
) -> None:
    """Whoever made the account typed an address, which may be somebody else's."""
    settings.PIPEWEB_REGISTRATION = "open"
    EmailAddress.objects.create(user=alice, email="alice@example.org", verified=False, primary=True)
    User.objects.filter(pk=alice.pk).update(email="alice@example.org")
    browser = Client()
    assert come(browser).status_code == 403
    assert not is_signed_in(browser) and not SocialAccount.objects.exists()


@pytest.mark.parametrize("right", ["is_staff", "is_superuser"])
def test_an_account_of_staff_is_not_joined_by_an_address(
    provider: FakeProvider, alice: User, right: str
) -> None:
    confirm(alice)
    User.objects.filter(pk=alice.pk).update(**{right: True})
    browser = Client()
    assert come(browser).status_code == 403 and not is_signed_in(browser)


def test_nor_is_a_closed_one(provider: FakeProvider, alice: User) -> None:
    confirm(alice)
    User.objects.filter(pk=alice.pk).update(is_active=False)
    browser = Client()
    assert come(browser).status_code == 403 and not is_signed_in(browser)


def test_staff_connect_theirs_and_come_by_it_from_then_on(
    provider: FakeProvider, alice_at: Person, settings: Settings
) -> None:
    User.objects.filter(pk=alice_at.user.pk).update(is_staff=True)
    alice_at.sign_in()
    asked = come(alice_at.client, process="connect")
    assert asked["Location"] == reverse("account_reauthenticate") and not SocialAccount.objects.exists()
    alice_at.confirm()
    assert SocialAccount.objects.get().user == alice_at.user
    browser = Client()
    come(browser)
    assert is_signed_in(browser)


def test_strangers_get_an_account_only_where_the_setting_says_so(
    provider: FakeProvider, db: None, settings: Settings
) -> None:
    browser = Client()
    answer = come(browser)
    assert not is_signed_in(browser) and not User.objects.exists() and answer.status_code == 200
    settings.PIPEWEB_REGISTRATION = "provider"
    come(browser)
    made = User.objects.get()
    assert is_signed_in(browser) and (made.username, made.email) == ("alice.l", "alice@example.org")
    assert not made.has_usable_password() and not made.is_staff


def test_a_name_that_is_taken_gets_another(provider: FakeProvider, alice: User, settings: Settings) -> None:
    settings.PIPEWEB_REGISTRATION = "provider"
    provider.person |= {"preferred_username": "alice"}
    come(Client())
    made = User.objects.exclude(pk=alice.pk).get()
    assert made.username != "alice"


def test_the_second_factor_is_asked_for_all_the_same(provider: FakeProvider, guarded: Person) -> None:
    confirm(guarded.user)
    browser = Client()
    assert come(browser)["Location"] == reverse("mfa_authenticate") and not is_signed_in(browser)
    guarded.give_code(guarded.recovery[0], browser)
    assert is_signed_in(browser)


def test_another_persons_number_is_another_person(provider: FakeProvider, alice: User) -> None:
    """Whoever gets the address of who has left the company does not get their account."""
    confirm(alice)
    come(Client())
    provider.person = {**ALICE, "sub": "a-2", "email": "other@example.org"}
    browser = Client()
    come(browser)
    assert not is_signed_in(browser)


def test_refusals_at_the_provider_are_said(provider: FakeProvider, db: None) -> None:
    provider.refuses = True
    browser = Client()
    answer = come(browser)
    assert answer["Location"] == reverse("socialaccount_login_cancelled")
    assert browser.get(answer["Location"]).status_code == 200


def test_an_answer_that_nobody_asked_for_is_refused(provider: FakeProvider, db: None) -> None:
    place = reverse("openid_connect_callback", kwargs={"provider_id": project.OIDC_PROVIDER_ID})
    answer = Client().get(place, {"code": "stolen", "state": "made-up"})
    assert answer.status_code in (302, 401) and not User.objects.exists()


READ = {
    "INSTALLED_APPS": ["sessions_app"],
    "MIDDLEWARE": ["sessions_app.chat.time_zone.time_zone_middleware"],
    "EMAIL_URL": "",
    "REDIS_URL": "",
    "DEBUG": True,
    "PIPEWEB_OIDC_ISSUER": "https://login.example",
    "PIPEWEB_OIDC_CLIENT": "pipeweb",
    "PIPEWEB_OIDC_SECRET": "",
    "PIPEWEB_OIDC_NAME": "Example",
    "PIPEWEB_REGISTRATION": "closed",
}


def test_another_provider_is_not_taken_for_the_one_before() -> None:
    first, slashed, second = (
        team_settings(READ | {"PIPEWEB_OIDC_ISSUER": url})["OIDC_PROVIDER_ID"]
        for url in ("https://login.example", "https://login.example/", "https://other.example")
    )
    assert first == slashed != second


@pytest.mark.parametrize(
    "wrong",
    [{"PIPEWEB_OIDC_CLIENT": ""}, {"PIPEWEB_OIDC_ISSUER": ""}],
)
def test_half_a_provider_is_refused(wrong: dict[str, str]) -> None:
    with pytest.raises(SettingsError, match="PIPEWEB_OIDC"):
        team_settings(READ | wrong)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("smtp://u:p%40@mail.example", ("mail.example", 587, "u", "p@", False, True)),
        ("smtps://mail.example", ("mail.example", 465, "", "", True, False)),
        ("smtp://localhost", ("localhost", 25, "", "", False, False)),
    ],
)
def test_the_address_of_a_mail_server_is_taken_apart(url: str, expected: tuple[object, ...]) -> None:
    found = team_settings(READ | {"EMAIL_URL": url})
    names = ("HOST", "PORT", "HOST_USER", "HOST_PASSWORD", "USE_SSL", "USE_TLS")
    assert tuple(found[f"EMAIL_{name}"] for name in names) == expected


def test_several_processes_share_what_was_used() -> None:
    assert "CACHES" not in team_settings(READ)
    shared = team_settings(READ | {"REDIS_URL": "redis://127.0.0.1:6379/0"})["CACHES"]["default"]
    assert shared["LOCATION"] == "redis://127.0.0.1:6379/0" and "redis" in shared["BACKEND"]
