"""Bytes stored once."""

import pytest
from django.contrib.auth.models import User
from django.db import transaction

from sessions_app.models import Attachment, Blob
from sessions_app.models.blob import digest
from tests.beside import beside
from tests.factories import make_session

pytestmark = pytest.mark.django_db


def test_it_stores_equal_bytes_once(alice: User) -> None:
    first = Blob.objects.store(alice.pk, [b"one", b"two", b"one"])
    second = Blob.objects.store(alice.pk, [b"two"])
    assert Blob.objects.count() == 2
    assert second[digest(b"two")] == first[digest(b"two")]


def test_it_never_shares_bytes_between_people(alice: User, bob: User) -> None:
    mine, theirs = (Blob.objects.store(user.pk, [b"secret"]) for user in (alice, bob))
    assert mine != theirs


@pytest.mark.parametrize("body", [b"", b"\0", b"x" * 511, b"y" * 1_000_000, "é🙂".encode() * 400])
def test_it_gives_back_the_bytes_it_took(alice: User, body: bytes) -> None:
    keys = Blob.objects.store(alice.pk, [body])
    assert Blob.objects.get(pk=keys[digest(body)]).bytes == body


def test_it_packs_what_is_worth_packing(alice: User) -> None:
    keys = Blob.objects.store(alice.pk, [b"z" * 10_000])
    blob = Blob.objects.get(pk=keys[digest(b"z" * 10_000)])
    assert blob.packed and len(blob.body) < 200 and blob.size == 10_000


def test_collecting_removes_only_what_nothing_points_at(alice: User) -> None:
    Blob.objects.store(alice.pk, [b"loose"])
    assert Blob.objects.delete_unreferenced(alice.pk) == 1
    assert not Blob.objects.exists()


def test_erasing_a_person_leaves_no_byte_of_theirs(alice: User) -> None:
    Blob.objects.store(alice.pk, [b"mine"])
    alice.delete()
    assert not Blob.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_a_blob_that_is_referenced_while_it_is_deleted_stays(alice: User) -> None:
    (kept,) = Blob.objects.store(alice.pk, [b"shared"]).values()
    session = make_session(alice)
    with beside() as begin:
        with transaction.atomic():
            Blob.objects.store(alice.pk, [b"shared"])
            Attachment.objects.create(session=session, name="a", mime="text/plain", size=6, blob_id=kept)
            deleted = begin(lambda: delete_unreferenced(alice.pk))
        assert deleted.result(60) == 0
    assert Attachment.objects.get().blob.bytes == b"shared"


@transaction.atomic
def delete_unreferenced(owner_id: int) -> int:
    return Blob.objects.delete_unreferenced(owner_id)
