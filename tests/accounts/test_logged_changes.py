"""What stands in the audit log, whoever does it and by whatever page."""

from typing import Any

import pytest
from django.contrib.auth.models import Group, Permission, User
from django.test import Client
from django.urls import reverse

from sessions_app.log_codes import LoggedAction
from sessions_app.models import Allowance, AuditEntry, PersonalLimits, Price
from tests.factories import make_session


def entries(action: LoggedAction) -> list[AuditEntry]:
    return list(AuditEntry.objects.filter(action=action).order_by("pk"))


def changes(action: LoggedAction) -> list[dict[str, Any]]:
    return [entry.figures["changes"] for entry in entries(action)]


def test_signing_in_and_out_is_logged(alice: User) -> None:
    client = Client()
    client.post(reverse("sign-in"), {"username": "alice", "password": "wonderland"})
    client.post(reverse("sign-out"))
    (begun,), (ended,) = entries(LoggedAction.SIGNED_IN), entries(LoggedAction.SIGNED_OUT)
    assert begun.actor == ended.actor == "alice" and begun.person_key == alice.pk and begun.address


def test_a_failure_names_a_person_only_where_there_is_one(alice: User) -> None:
    for name in ("alice", "my secret passphrase"):
        Client().post(reverse("sign-in"), {"username": name, "password": "wrong"})
    known, unknown = entries(LoggedAction.SIGN_IN_FAILED)
    assert (known.person_key, known.actor) == (alice.pk, "") and unknown.person_key is None
    assert "passphrase" not in str(AuditEntry.objects.filter(pk=unknown.pk).values())


def test_a_price_is_logged_with_its_old_and_new_value(db: None) -> None:
    price = Price.objects.create(model="m", valid_from="2026-01-01", input="0.5", cached="0.1", output="3")
    price.input = 5
    price.save()
    price.save()
    price.delete()
    made, changed, gone = changes(LoggedAction.PRICE_CHANGED)
    assert made["input"] == [None, "0.5"] and changed == {"input": ["0.5", "5"]}
    assert gone["input"] == ["5", None]


def test_limits_are_logged(alice: User) -> None:
    limits = PersonalLimits.objects.create(user=alice, sockets=3)
    limits.sockets = 0
    limits.save()
    Allowance.objects.create(owner=alice, usd_per_day="1.50")
    assert changes(LoggedAction.LIMIT_CHANGED)[1:] == [
        {"sockets": [3, 0]},
        {"owner_id": [None, alice.pk], "usd_per_day": [None, "1.5"]},
    ]
    assert {entry.person_key for entry in entries(LoggedAction.LIMIT_CHANGED)} == {alice.pk}


@pytest.mark.parametrize("is_reverse", [False, True])
def test_rights_are_logged_from_either_side(alice: User, is_reverse: bool) -> None:
    team, permission = Group.objects.create(name="team"), Permission.objects.get(codename="view_run")
    if is_reverse:
        team.user_set.add(alice)
        permission.user_set.add(alice)
        team.user_set.clear()
    else:
        alice.groups.add(team)
        alice.user_permissions.set([permission])
        alice.groups.clear()
    assert changes(LoggedAction.ROLE_CHANGED)[-3:] == [
        {"groups": [[], ["team"]]},
        {"user_permissions": [[], ["sessions_app.view_run"]]},
        {"groups": [["team"], []]},
    ]
    assert {entry.person_key for entry in entries(LoggedAction.ROLE_CHANGED)[-3:]} == {alice.pk}


def test_what_a_group_may_is_logged(db: None) -> None:
    team, permission = Group.objects.create(name="team"), Permission.objects.get(codename="view_run")
    team.permissions.set([permission])
    permission.group_set.clear()
    assert changes(LoggedAction.ROLE_CHANGED)[1:] == [
        {"permissions": [[], ["sessions_app.view_run"]]},
        {"permissions": [["sessions_app.view_run"], []]},
    ]


def test_a_role_that_is_given_in_the_admin_names_who_gave_it(alice: User) -> None:
    root = User.objects.create_superuser("root")
    client = Client()
    client.force_login(root)
    form = client.get(reverse("admin:auth_user_change", args=[alice.pk])).context["adminform"].form
    sent = {name: form[name].value() for name in form.fields if form[name].value() not in (None, False)}
    inlines = ("limits", "allowance")
    inline = {f"{one}-{form}_FORMS": 0 for one in inlines for form in ("TOTAL", "INITIAL")}
    joined = {"date_joined_0": "2026-01-01", "date_joined_1": "00:00:00"}
    place = reverse("admin:auth_user_change", args=[alice.pk])
    answer = client.post(place, sent | inline | joined | {"is_staff": "on"})
    assert answer.status_code == 302
    entry = entries(LoggedAction.ROLE_CHANGED)[-1]
    assert entry.actor == "root" and entry.figures["changes"] == {"is_staff": [False, True]}


def test_a_sign_in_alone_changes_no_role(alice: User) -> None:
    before = len(entries(LoggedAction.ROLE_CHANGED))
    Client().force_login(alice)
    assert len(entries(LoggedAction.ROLE_CHANGED)) == before


def test_an_export_and_an_erasure_are_logged(client: Client, alice: User) -> None:
    session = make_session(alice)
    client.get(reverse("export-json", args=[session.public]))
    session.erase()
    (exported,), (erased,) = entries(LoggedAction.EXPORTED), entries(LoggedAction.ERASED)
    assert exported.key == erased.key == str(session.public)
    assert (exported.actor, exported.figures, erased.actor) == ("alice", {"form": "json"}, "")


def test_addresses_for_programs_are_logged(client: Client, alice: User) -> None:
    client.post(reverse("capture"), {"name": "Laptop", "upstream": "provider", "days": "90"})
    address = alice.capture_addresses.get()
    for _ in range(2):
        client.post(reverse("change-capture-address", args=[address.public, "revoke"]))
    (made,), (gone,) = entries(LoggedAction.CAPTURE_TOKEN_MADE), entries(LoggedAction.CAPTURE_TOKEN_REVOKED)
    assert made.key == gone.key == str(address.public) and made.figures == {"uses_server_key": False}
