"""Limits are set on the page of a group, of a person, or for everybody."""

from decimal import Decimal

import pytest
from django.contrib.auth.models import Group, Permission, User
from django.test import Client
from django.urls import reverse

from sessions_app.context.allowances import rules_of
from sessions_app.context.personal_limits import LIMIT_NAMES, EffectiveLimits, limits_of
from sessions_app.models import Allowance, PersonalLimits
from tests.factories import make_run, make_session

ADD = "admin:sessions_app_personallimits_add"


def fields(**values: str) -> dict[str, str]:
    return {"user": "", "group": "", **dict.fromkeys(LIMIT_NAMES, ""), **values}


def inline(**values: str) -> dict[str, str]:
    counts = {"limits-TOTAL_FORMS": "1", "limits-INITIAL_FORMS": "0", "limits-MAX_NUM_FORMS": "1"}
    return counts | {f"limits-0-{name}": value for name, value in values.items()}


def test_the_limits_of_everybody_are_one_row(root: Client, alice: User) -> None:
    assert root.post(reverse(ADD), fields(sockets="7")).status_code == 302
    assert limits_of(alice.pk) == EffectiveLimits(sockets=7)
    again = root.post(reverse(ADD), fields(sockets="8"))
    assert "are set already" in again.content.decode()
    assert PersonalLimits.objects.get().everybody is True


def test_a_row_is_not_of_a_group_and_a_person(root: Client, alice: User) -> None:
    both = fields(user=str(alice.pk), group=str(Group.objects.create(name="guests").pk))
    assert "not both" in root.post(reverse(ADD), both).content.decode()


def test_a_group_has_its_limits_on_its_page(root: Client, alice: User) -> None:
    group = Group.objects.create(name="guests")
    alice.groups.add(group)
    place = reverse("admin:auth_group_change", args=[group.pk])
    said = inline(sends_per_minute="3") | allowance(usd_per_day="0.00000001")
    assert root.post(place, {"name": "guests", **said}).status_code == 302
    assert limits_of(alice.pk).sends_per_minute == 3
    assert rules_of(alice.pk).own.day == Decimal("0.00000001")


def allowance(**values: str) -> dict[str, str]:
    """The fields of the inline form of the allowance."""
    counts = {"allowance-TOTAL_FORMS": "1", "allowance-INITIAL_FORMS": "0"}
    return counts | {f"allowance-0-{name}": value for name, value in {"warn_percent": "80", **values}.items()}


def test_the_ceiling_is_set_once_in_the_admin(root: Client, alice: User) -> None:
    add = reverse("admin:sessions_app_allowance_add")
    said = {"is_ceiling": "on", "usd_per_month": "0.005", "warn_percent": "80"}
    assert root.post(add, said).status_code == 302
    assert rules_of(alice.pk).ceiling.month == Decimal("0.005")
    assert "ceiling is set already" in root.post(add, said).content.decode()
    assert root.post(add, {"usd_per_month": "-1", "warn_percent": "80"}).status_code == 200
    assert "the installation" in root.get(reverse("admin:sessions_app_allowance_changelist")).content.decode()


def test_the_page_of_a_person_says_what_is_used_and_allowed(root: Client, alice: User) -> None:
    PersonalLimits.objects.create(user=alice, runs_at_once=5)
    make_run(make_session(alice))
    page = root.get(reverse("admin:auth_user_change", args=[alice.pk])).content.decode()
    assert "runs at once: 1 of 5" in page and "sessions: 1 of 10000" in page
    assert f'placeholder="{EffectiveLimits().sockets}"' in page


def test_who_may_only_view_changes_nothing(db: None, alice: User) -> None:
    person = User.objects.create_user("steward", is_staff=True)
    person.user_permissions.set(Permission.objects.filter(codename__startswith="view_"))
    browser = Client()
    browser.force_login(person)
    assert browser.post(reverse(ADD), fields(sockets="7")).status_code == 403
    assert browser.get(reverse("admin:auth_user_change", args=[alice.pk])).status_code == 200
    assert not PersonalLimits.objects.exists()


@pytest.mark.parametrize("page", ["changelist", "add"])
def test_the_pages_open(root: Client, page: str) -> None:
    PersonalLimits.objects.create(sockets=1)
    assert root.get(reverse(f"admin:sessions_app_personallimits_{page}")).status_code == 200


def test_budgets_on_the_page_of_a_person_are_not_those_of_who_reads_it(root: Client, alice: User) -> None:
    Allowance.objects.create(owner=alice, usd_per_day=1, usd_per_month=9)
    page = root.get(reverse("admin:auth_user_change", args=[alice.pk])).content.decode()
    assert "The person’s budget for today: $0.00 of $1.00" in page
    assert "The person’s budget for this month" in page and "Your budget" not in page
