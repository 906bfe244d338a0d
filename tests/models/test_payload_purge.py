"""A purge takes what the requests of one session sent and received, and nothing of any other."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import models
from django.utils import timezone

from sessions_app.models import (
    Blob,
    CaptureAddress,
    CapturedRequest,
    Exchange,
    ExchangeAttempt,
    RawChunk,
    Run,
    Session,
    Source,
)
from sessions_app.models.payload_purge import payload_sizes, purge_payloads, session_sizes
from tests.factories import make_exchange, make_run, make_session

OF_EXCHANGES: tuple[type[models.Model], ...] = (RawChunk, ExchangeAttempt, CapturedRequest)

TRAVELLED = {
    "headers": [["x-app", "mine"]],
    "response_headers": [["x-server", "theirs"]],
    "framing": {"chunks": [1]},
    "packets": [[1, 2]],
    "calls": [{"name": "look"}],
}


def filled(owner: User, text: str) -> Session:
    """A session whose one exchange has a row of every kind, with bytes that no other has."""
    session = make_session(owner)
    run = make_run(session, text)
    exchange = make_exchange(run)
    run.end(Run.Status.COMPLETED)
    keys = Blob.objects.store(owner.pk, [f"{kind} {text}".encode() for kind in ("error", "asked", "told")])
    error, asked, told = keys.values()
    ExchangeAttempt.objects.create(
        exchange=exchange,
        number=1,
        started_at=timezone.now(),
        request_headers=[["x-goog-api-client", text]],
        response_headers=[["server", text]],
        body_id=error,
    )
    CapturedRequest.objects.create(
        address=CaptureAddress.objects.create(owner=owner, name=text, token_hash=text),
        received_at=timezone.now(),
        method="POST",
        path="/v1beta",
        exchange=exchange,
        request_body_id=asked,
        response_body_id=told,
        **TRAVELLED,
    )
    return session


def rows_of(session: Session) -> dict[str, Any]:
    found: dict[str, Any] = {
        kind.__name__: list(kind._default_manager.filter(exchange__session=session).values())
        for kind in OF_EXCHANGES
    }
    found["Source"] = list(Source.objects.filter(session=session).values())
    found["Exchange"] = list(Exchange.objects.filter(session=session).values())
    found["Session"] = Session.objects.filter(pk=session.pk).values().get()
    return found


@pytest.fixture
def purged(alice: User) -> Session:
    return filled(alice, "to be purged")


def test_nothing_of_what_travelled_is_left(purged: Session, alice: User) -> None:
    sent = {bytes(blob.body) for blob in Blob.objects.filter(owner=alice)}
    assert purge_payloads(purged.pk) == 1
    rows = rows_of(purged)
    assert rows["RawChunk"] == rows["Source"] == []
    (attempt,), (captured,), (exchange,) = rows["ExchangeAttempt"], rows["CapturedRequest"], rows["Exchange"]
    emptied = ("request_headers", "response_headers", "body_id")
    assert [attempt[name] for name in emptied] == [[], [], None]
    assert [captured[name] for name in TRAVELLED] == [[]] * len(TRAVELLED)
    assert captured["request_body_id"] is None is captured["response_body_id"]
    assert exchange["manifest"] == {} and exchange["payload_purged_at"] is not None
    left = {bytes(blob.body) for blob in Blob.objects.filter(owner=alice)}
    assert left < sent and not any(b"to be purged" in body for body in left if body.startswith(b"error"))
    assert payload_sizes([purged.pk]).get(purged.pk, 0) == 0 < session_sizes([purged.pk])[purged.pk]


def test_the_rows_of_other_sessions_stay_as_they_are(purged: Session, alice: User, bob: User) -> None:
    others = [filled(alice, "of the same person"), filled(bob, "of another")]
    before = [rows_of(other) for other in others]
    assert all(all(rows.values()) for rows in before)
    purge_payloads(purged.pk)
    assert [rows_of(other) for other in others] == before


def test_a_second_purge_finds_nothing_and_tells_no_process(purged: Session) -> None:
    assert purge_payloads(purged.pk) == 1
    before = rows_of(purged)
    assert before["Session"]["payload_purges"] == 1
    assert purge_payloads(purged.pk) == 0 and rows_of(purged) == before


def test_what_came_after_a_purge_goes_with_the_next(purged: Session) -> None:
    purge_payloads(purged.pk)
    (first,) = Exchange.objects.filter(session=purged)
    purged.refresh_from_db()
    run = make_run(purged, "later")
    make_exchange(run)
    run.end(Run.Status.COMPLETED)
    assert purge_payloads(purged.pk) == 1
    first_again = Exchange.objects.get(pk=first.pk)
    assert first_again.payload_purged_at == first.payload_purged_at
    assert rows_of(purged)["Session"]["payload_purges"] == 2


def _answering(session: Session) -> None:
    make_run(session)


def _captured_under_way(session: Session) -> None:
    Exchange.objects.filter(session=session).update(ended_at=None)


def _importing(session: Session) -> None:
    Session.objects.filter(pk=session.pk).update(is_importing=True)


@pytest.mark.parametrize("busy", [_answering, _captured_under_way, _importing])
def test_a_session_at_work_is_left_alone(busy: Any, purged: Session) -> None:
    busy(purged)
    before = rows_of(purged)
    assert purge_payloads(purged.pk) == 0 and rows_of(purged) == before


def test_another_session_at_work_keeps_none_from_it(purged: Session, alice: User) -> None:
    beside = filled(alice, "beside it")
    make_run(beside)
    _captured_under_way(beside)
    assert purge_payloads(purged.pk) == 1


def test_sizes_are_of_the_sessions_that_are_asked_for(purged: Session, alice: User) -> None:
    other = filled(alice, "beside it")
    for sizes in (payload_sizes, session_sizes):
        one, both = sizes([purged.pk]), sizes([purged.pk, other.pk])
        assert one == {purged.pk: both[purged.pk]} and both.keys() == {purged.pk, other.pk}
        assert all(both.values())


def test_a_session_that_is_gone_has_nothing_to_purge(purged: Session) -> None:
    purged.erase()
    assert purge_payloads(purged.pk) == 0
