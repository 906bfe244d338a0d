"""Large files: stored in slices, found by their hash, gone without a rest."""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from io import BytesIO

import pytest
from django.contrib.auth.models import User
from django.db import connection
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sessions_app.models import Attachment, Blob, BlobSlice, Session, blob_slice
from sessions_app.models.blob import digest
from tests.factories import make_session

LARGE = bytes(range(256)) * 5


@pytest.fixture
def session(alice: User) -> Session:
    return make_session(alice)


@pytest.fixture(autouse=True)
def small_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blob_slice, "SLICE", 100)
    monkeypatch.setattr("sessions_app.models.attachment.SLICE", 100)


def add(session: Session, body: bytes = LARGE) -> Attachment:
    return Attachment.objects.add(session, name="a.png", mime="image/png", file=BytesIO(body))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=30)
@given(st.binary(min_size=1, max_size=450))
def test_what_is_read_is_what_was_stored(session: Session, body: bytes) -> None:
    row = Attachment.objects.get(pk=add(session, body).pk)
    assert row.blob.bytes == body and row.size == row.blob.size == len(body)
    assert row.blob.sha256 == digest(body)
    assert row.blob.is_sliced == (len(body) > 100)


def test_no_row_holds_more_than_a_slice(session: Session) -> None:
    add(session)
    assert {len(body) for body in BlobSlice.objects.values_list("body", flat=True)} == {100, 80}


def test_the_same_file_is_stored_once(session: Session) -> None:
    first, second = add(session), add(session)
    assert first.blob_id == second.blob_id and BlobSlice.objects.count() == 13
    Attachment.objects.discard([first], session.owner_id)
    assert BlobSlice.objects.count() == 13
    Attachment.objects.discard([second], session.owner_id)
    assert not BlobSlice.objects.exists() and not Blob.objects.exists()


def test_of_two_that_arrive_at_once_one_stays(session: Session) -> None:
    """The other was written while this one was."""
    written = BlobSlice.objects.write(session.owner_id, BytesIO(LARGE), len(LARGE))
    row = add(session)
    assert Blob.objects.complete(session.owner_id, digest(LARGE), written) == row.blob_id
    assert Blob.objects.count() == 1 and BlobSlice.objects.count() == 13


def test_two_people_do_not_share(session: Session, bob: User) -> None:
    assert add(session).blob_id != add(make_session(bob)).blob_id


def test_what_is_being_written_is_not_collected(session: Session) -> None:
    BlobSlice.objects.write(session.owner_id, BytesIO(LARGE), len(LARGE))
    assert Blob.objects.delete_unreferenced(session.owner_id) == 0 and BlobSlice.objects.count() == 13


def test_what_a_killed_process_left_goes_with_the_next_upload(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    BlobSlice.objects.write(session.owner_id, BytesIO(b"y" * 500), 500)
    monkeypatch.setattr(time, "time", lambda: 10_000_000_000)
    row = add(session)
    assert list(Blob.objects.values_list("pk", flat=True)) == [row.blob_id]


def test_erasing_a_session_erases_its_files(session: Session) -> None:
    add(session)
    session.erase()
    assert not BlobSlice.objects.exists() and not Blob.objects.exists()


def test_erasing_a_person_erases_what_was_being_written(session: Session) -> None:
    BlobSlice.objects.write(session.owner_id, BytesIO(LARGE), len(LARGE))
    session.owner.delete()
    assert not BlobSlice.objects.exists() and not Blob.objects.exists()


class WatchedFile(BytesIO):
    """Somebody else writes a row whenever this is read."""

    def __init__(self, body: bytes, other_write: Callable[[], int]) -> None:
        super().__init__(body)
        self.writes: list[int] = []
        self._other_write = other_write

    def read(self, size: int | None = -1, /) -> bytes:
        with ThreadPoolExecutor(1) as thread:
            self.writes.append(thread.submit(self._other_write).result(5))
        return super().read(size)


@pytest.mark.django_db(transaction=True)
def test_others_write_between_two_slices(session: Session) -> None:
    other = make_session(session.owner)

    def write() -> int:
        try:
            return Session.objects.filter(pk=other.pk).update(title="Written meanwhile")
        finally:
            connection.close()

    file = WatchedFile(LARGE, write)
    with short_patience():
        Attachment.objects.add(session, name="a.png", mime="image/png", file=file)
    assert set(file.writes) == {1} and len(file.writes) > 2 * 13


@contextmanager
def short_patience() -> Iterator[None]:
    """SQLite waits twenty seconds for a lock otherwise."""
    options = connection.settings_dict["OPTIONS"]
    before = dict(options)
    if connection.vendor == "sqlite":
        options["timeout"] = 1
    yield
    options.clear()
    options.update(before)
