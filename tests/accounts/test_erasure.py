"""Erasing a person: a marker in every field and file is nowhere afterwards, on disk and in the database."""

from decimal import Decimal

import pytest
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.auth.models import User
from django.contrib.contenttypes.models import ContentType
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.models import Sum
from django.test import Client

from sessions_app.context.workspaces import workspace_of
from sessions_app.models import Booking, CacheEntry, ProviderFileRemoval, Session, Spending
from sessions_app.runs.person_erasure import erase_person
from tests.accounts.markers import (
    KEPT,
    NOT_A_PERSONS,
    Marker,
    everything_stored,
    make_missing,
    mark_files,
    mark_rows,
    models_of_people,
)
from tests.accounts.private_rows import PrivateRows
from tests.factories import make_history, make_session


def left(marker: Marker) -> set[tuple[str, str]]:
    """(the field whose marker it is, where it was found)."""
    return {(field, place) for place, data in everything_stored() for field in marker.left_in(data)}


@pytest.mark.django_db(transaction=True)
def test_nothing_of_an_erased_person_is_left_in_any_field_or_file(alice: User, bob: User) -> None:
    marker = Marker()
    PrivateRows(alice)
    make_missing(alice)
    User.objects.filter(pk=alice.pk).update(username=marker.word("User.username"))
    browser = Client()
    browser.force_login(User.objects.get(pk=alice.pk))
    note_in_admin(alice, marker.word("User.username"))
    mark_rows(alice, marker)
    mark_files(alice, marker)
    found = {field for field, _ in left(marker)}
    assert found == marker.fields.keys(), "each marker is found before"
    make_history(make_session(bob), 1)
    erase_person(User.objects.get(pk=alice.pk), by=None)
    call_command("erase", "--compact", verbosity=0)
    assert left(marker) == set()
    assert Session.objects.get().owner == bob


def note_in_admin(person: User, name: str) -> None:
    of_user = ContentType.objects.get_for_model(User)
    LogEntry.objects.create(
        user=User.objects.create_user("root"),
        content_type=of_user,
        object_id=str(person.pk),
        object_repr=name,
        action_flag=CHANGE,
    )


def test_every_model_is_marked_or_has_a_reason() -> None:
    names = {model.__name__ for model in models_of_people()}
    assert not names & NOT_A_PERSONS.keys()
    assert KEPT.keys() <= names


@pytest.mark.django_db
def test_sums_of_money_stay_without_the_person(alice: User) -> None:
    make_history(make_session(alice), 1)
    Spending.objects.create(owner=alice, day="2026-11-01", model="gemini", usd=Decimal("1.5"))
    Booking.objects.create(owner=alice, day="2026-11-01", model="gemini", cause="answer", usd=Decimal("1.5"))
    sums = [model.objects.aggregate(total=Sum("usd"))["total"] for model in (Spending, Booking)]
    erase_person(alice, by=None)
    assert [model.objects.aggregate(total=Sum("usd"))["total"] for model in (Spending, Booking)] == sums
    assert not Booking.objects.exclude(owner=None).exists()
    assert not Spending.objects.exclude(owner=None).exists()


@pytest.mark.django_db
def test_caches_and_bookings_of_others_stay_as_they_are(alice: User, bob: User) -> None:
    for person in (alice, bob):
        name = person.username
        Booking.objects.create(
            owner=person, day="2026-11-01", model="gemini", cause="answer", answer_key=f"answer of {name}"
        )
        CacheEntry.objects.create(fingerprint=name, owner=person, name=f"cachedContents/{name}", said="No.")
    erase_person(alice, by=None)
    assert sorted(Booking.objects.values_list("answer_key", flat=True)) == ["", "answer of bob"]
    rows = CacheEntry.objects.order_by("fingerprint").values_list("fingerprint", "state", "said")
    assert list(rows) == [("alice", CacheEntry.State.TO_DELETE, ""), ("bob", CacheEntry.State.LIVE, "No.")]


@pytest.mark.django_db
def test_caches_that_others_use_or_that_programs_made_live_on(alice: User, bob: User) -> None:
    facts = {"owner": alice, "said": "No."}
    shared = CacheEntry.objects.create(fingerprint="shared", name="cachedContents/shared", **facts)
    shared.sessions.add(make_session(bob), make_session(alice))
    CacheEntry.objects.create(fingerprint="program", name="cachedContents/program", is_programs=True, **facts)
    erase_person(alice, by=None)
    lived_on = CacheEntry.objects.filter(state=CacheEntry.State.LIVE, said="", owner=None)
    assert set(lived_on.values_list("fingerprint", flat=True)) == {"shared", "program"}


@pytest.mark.django_db(transaction=True)
def test_the_workspace_goes_and_files_at_the_provider_are_to_go(alice: User) -> None:
    rows = PrivateRows(alice)
    rows.attachment.set_copy("https://provider.example/v1beta/files/abc", "gemini/x", None)
    folder = workspace_of(alice.pk).root
    assert folder.exists()
    erase_person(alice, by=None)
    assert not folder.exists()
    assert ProviderFileRemoval.objects.get().uri.endswith("/files/abc")


@pytest.mark.django_db(transaction=True)
def test_an_erasure_that_was_cut_short_is_begun_again(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(3):
        make_history(make_session(alice), 1)
    erase, count = Session.erase, [0]

    def fail_at_the_second(session: Session) -> None:
        count[0] += 1
        if count[0] == 2:
            raise RuntimeError
        erase(session)

    monkeypatch.setattr(Session, "erase", fail_at_the_second)
    with pytest.raises(RuntimeError):
        erase_person(alice, by=None)
    alice.refresh_from_db()
    assert not alice.is_active and Session.objects.count() == 2
    erase_person(alice, by=None)
    assert not User.objects.exists() and not Session.objects.exists()


def nobody_answers(_: str) -> str:
    raise EOFError


@pytest.mark.django_db
def test_the_command_asks_and_knows_only_people_who_exist(
    alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("builtins.input", lambda _: "bob")
    for arguments in (("alice",), ("nobody", "--yes"), ()):
        with pytest.raises(CommandError):
            call_command("erase", *arguments)
    monkeypatch.setattr("builtins.input", nobody_answers)
    with pytest.raises(CommandError, match="--yes"):
        call_command("erase", "alice")
    assert User.objects.filter(username="alice").exists()
    call_command("erase", "alice", "--yes", verbosity=0)
    assert not User.objects.exists() and connection.is_usable()
