"""Recording never waits: what finds no room is counted, and what cannot be written now is written later."""

import threading
from collections import Counter
from collections.abc import Mapping, Sequence

import pytest
from django.db import OperationalError
from django.utils import timezone

from sessions_app.capture import recorder as recording
from sessions_app.capture.recorder import Recorder
from sessions_app.capture.records import Begun, Ended, Record


class Store:
    """Keeps what is written, or raises."""

    def __init__(self) -> None:
        self.written: list[Record] = []
        self.missed: Counter[int] = Counter()
        self.is_away = False
        self.refused: object = None
        self.tried = threading.Event()

    def write(self, records: Sequence[Record]) -> None:
        self.tried.set()
        if self.is_away:
            raise OperationalError("database is locked")
        if self.refused in records:
            raise ValueError("cannot be stored")
        self.written += records

    def count(self, missed: Mapping[int, int]) -> None:
        self.missed.update(missed)


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> Store:
    monkeypatch.setattr(recording, "RETRY_SECONDS", 0.01)
    return Store()


def begun(body: bytes = b"") -> Begun:
    return Begun(
        address=7, owner=1, received_at=timezone.now(), method="GET", path="/v1beta/models", body=body
    )


def ended(of: Begun, body: bytes = b"") -> Ended:
    return Ended(of.key, of.address, of.owner, asks_model=False, ended_at=timezone.now(), body=body)


def test_records_are_written_in_their_order(store: Store) -> None:
    recorder = Recorder(store.write, store.count)
    found = [begun() for _ in range(120)]
    assert all(recorder.begin(one) for one in found)
    assert recorder.flush(10) and store.written == found
    recorder.close()


def test_records_wait_for_a_database_that_is_away(store: Store) -> None:
    recorder = Recorder(store.write, store.count)
    store.is_away = True
    one = begun()
    assert recorder.begin(one) and store.tried.wait(10)
    assert not recorder.flush(0.05)
    store.is_away = False
    assert recorder.flush(10) and store.written == [one]
    recorder.close()


def test_what_finds_no_room_is_counted(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recording, "RECORDS", 2)
    recorder = Recorder(store.write, store.count)
    store.is_away = True
    assert [recorder.begin(begun()) for _ in range(5)] == [True, True, False, False, False]
    store.is_away = False
    assert recorder.flush(10)
    assert store.missed == {7: 3} and len(store.written) == 2
    recorder.close()


def test_an_answer_without_room_is_recorded_without_its_bytes(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recording, "RECORD_BYTES", 10)
    recorder = Recorder(store.write, store.count)
    store.is_away = True
    one = begun(b"12345")
    recorder.begin(one)
    assert not recorder.begin(begun(b"123456"))
    recorder.end(ended(one, b"123456"))
    store.is_away = False
    assert recorder.flush(10)
    last = store.written[-1]
    assert isinstance(last, Ended) and last.is_cut and last.body == b""
    recorder.close()


def test_a_record_that_cannot_be_stored_does_not_keep_others_from_it(store: Store) -> None:
    recorder = Recorder(store.write, store.count)
    store.is_away = True
    found = [begun() for _ in range(3)]
    for one in found:
        recorder.begin(one)
    store.refused = found[1]
    store.is_away = False
    assert recorder.flush(10)
    assert store.written == [found[0], found[2]]
    recorder.begin(begun())
    assert recorder.flush(10) and store.missed == {7: 1}
    recorder.close()


def test_nothing_starts_before_there_is_something_to_record(store: Store) -> None:
    recorder = Recorder(store.write, store.count)
    recorder.close()
    assert recorder._thread is None
