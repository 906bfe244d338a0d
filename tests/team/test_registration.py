"""Who makes an account: nobody by themselves, unless a setting says so; links of administrators; mail."""

import re
from typing import Any

import pytest
from allauth.account.models import EmailAddress, EmailConfirmationHMAC
from django.contrib.auth.models import User
from django.core import mail
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from sessions_app.log_codes import LoggedAction
from sessions_app.models import AuditEntry
from sessions_app.wording.sign_ins import SignInStep, step_words
from tests.team.people import Person, is_signed_in

FORM = {"username": "carol", "password1": "white-rabbit-7", "password2": "white-rabbit-7"}


@pytest.mark.parametrize("who", ["closed", "provider"])
def test_nobody_makes_an_account_by_the_form(db: None, settings: Settings, who: str) -> None:
    settings.PIPEWEB_REGISTRATION = who
    for answer in (Client().get(reverse("account_signup")), Client().post(reverse("account_signup"), FORM)):
        assert answer.status_code == 200 and b"<form" not in answer.content
    assert not User.objects.exists()


def test_anybody_does_where_it_is_open(db: None, settings: Settings) -> None:
    settings.PIPEWEB_REGISTRATION = "open"
    browser = Client()
    assert browser.post(reverse("account_signup"), FORM).status_code == 302
    assert is_signed_in(browser)
    made = User.objects.get(username="carol")
    assert not made.is_staff and not made.is_superuser


def test_a_weak_password_is_refused(db: None, settings: Settings) -> None:
    settings.PIPEWEB_REGISTRATION = "open"
    Client().post(reverse("account_signup"), FORM | {"password1": "carol", "password2": "carol"})
    assert not User.objects.exists()


def password_link(administrator: Client, person: User) -> str:
    place = reverse("admin:auth_user_password_link", args=[person.pk])
    assert not administrator.get(place).context["link"]
    return str(administrator.post(place).context["link"])


def choose(link: str) -> Any:
    """Opens the link in a browser of its own and chooses."""
    browser = Client()
    page = browser.get(link.removeprefix("http://testserver"), follow=True)
    if page.context.get("form") is None:
        return page
    at = page.redirect_chain[-1][0]
    return browser.post(at, {"password1": "white-rabbit-7", "password2": "white-rabbit-7"})


def test_an_administrators_link_sets_a_password_once(administrator: Client) -> None:
    invited = User.objects.create_user("carol")
    link = password_link(administrator, invited)
    assert choose(link).status_code == 302
    assert is_signed_in_with(invited, "white-rabbit-7")
    assert choose(link).context["form"] is None, "it was used"
    entry = AuditEntry.objects.get(action=LoggedAction.PASSWORD_LINK_MADE)
    assert (entry.actor, entry.person_key) == ("root", invited.pk)
    assert link.rsplit("-", 1)[1].strip("/") not in str(AuditEntry.objects.values())


def is_signed_in_with(user: User, password: str) -> bool:
    person = Person(user, password)
    person.sign_in()
    return is_signed_in(person.client)


def test_the_link_is_no_way_around_the_second_factor(guarded: Person, administrator: Client) -> None:
    choose(password_link(administrator, guarded.user))
    assert not is_signed_in(guarded.client), "its password is another now"
    assert not is_signed_in_with(guarded.user, "white-rabbit-7")


def test_only_administrators_make_links(alice: User) -> None:
    staff = User.objects.create_user("sam", is_staff=True)
    staff.user_permissions.set(
        [*staff.user_permissions.none().model.objects.filter(content_type__app_label="auth")]
    )
    browser = Client()
    browser.force_login(staff)
    place = reverse("admin:auth_user_password_link", args=[alice.pk])
    assert browser.get(reverse("admin:auth_user_change", args=[alice.pk])).status_code == 200
    assert browser.post(place).status_code == 403


def test_without_mail_the_page_says_who_can_help(alice: User) -> None:
    page = Client().get(reverse("account_reset_password"))
    assert "administrator" in page.content.decode() and "<form" not in page.content.decode()
    assert Client().post(reverse("account_reset_password"), {"email": "a@example.org"}).status_code == 200
    assert mail.outbox == []


def test_with_mail_a_link_is_sent_to_who_has_the_address(alice: User, settings: Settings) -> None:
    settings.EMAIL_URL = "smtp://localhost"
    User.objects.filter(pk=alice.pk).update(email="alice@example.org")
    Client().post(reverse("account_reset_password"), {"email": "alice@example.org"})
    (sent,) = mail.outbox
    found = re.search(r"http://\S+/password/\S+", str(sent.body))
    assert found and choose(found[0]).status_code == 302
    assert is_signed_in_with(alice, "white-rabbit-7")


def test_mail_is_not_sent_without_end(alice: User, settings: Settings) -> None:
    settings.EMAIL_URL = "smtp://localhost"
    User.objects.filter(pk=alice.pk).update(email="alice@example.org")
    answers = [
        Client().post(reverse("account_reset_password"), {"email": "alice@example.org"}).status_code
        for _ in range(7)
    ]
    assert answers == [302] * 5 + [429] * 2 and len(mail.outbox) == 5


def test_an_address_is_confirmed_once_and_a_link_that_ended_says_so(db: None) -> None:
    carol = User.objects.create_user("carol", email="carol@example.org")
    address = EmailAddress.objects.create(user=carol, email=carol.email, primary=True)
    place = reverse("account_confirm_email", args=[EmailConfirmationHMAC(address).key])
    page = Client().get(place)
    assert page.context["step"] == step_words(SignInStep.CONFIRM_ADDRESS) and b"<form" in page.content
    Client().post(place)
    address.refresh_from_db()
    assert address.verified
    for ended in (place, reverse("account_confirm_email", args=["no:key"])):
        page = Client().get(ended)
        assert page.context["step"] == step_words(SignInStep.ADDRESS_LINK_ENDED)
        assert b"<form" not in page.content


def test_an_optional_field_says_so_once(db: None, settings: Settings) -> None:
    settings.PIPEWEB_REGISTRATION = "open"
    assert Client().get(reverse("account_signup")).content.count(b"(optional)") == 1
