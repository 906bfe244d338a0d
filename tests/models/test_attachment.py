import uuid

import pytest
from django.contrib.auth.models import User

from sessions_app.errors import RunError
from sessions_app.models import Attachment, Blob, QueuedMessage, Session
from tests.factories import make_session

PNG = b"\x89PNG\r\n\x1a\n picture"


@pytest.fixture
def session(alice: User) -> Session:
    return make_session(alice)


def add(session: Session, body: bytes = PNG) -> Attachment:
    return Attachment.objects.add(session, name="a.png", mime="image/png", body=body)


def test_an_attachment_waits_in_the_composer_until_its_message_is_queued(session: Session) -> None:
    row, message = add(session), uuid.uuid4()
    Attachment.objects.claim(session.pk, [row.public], message)
    assert [*Attachment.objects.in_composer(session)] == [row]
    queued = QueuedMessage.objects.create(session=session, client_id=message, text="x", files=1)
    assert not Attachment.objects.in_composer(session)
    queued.delete()
    assert [*Attachment.objects.in_composer(session)] == [row]


def test_a_claim_twice_is_a_claim_once(session: Session) -> None:
    row, message = add(session), uuid.uuid4()
    for _ in range(2):
        Attachment.objects.claim(session.pk, [row.public], message)
    assert Attachment.objects.going_with(session.pk, message) == [row]


def test_what_waits_with_another_message_cannot_be_claimed(session: Session) -> None:
    row, message = add(session), uuid.uuid4()
    Attachment.objects.claim(session.pk, [row.public], message)
    QueuedMessage.objects.create(session=session, client_id=message, text="x", files=1)
    with pytest.raises(RunError, match="not there any more"):
        Attachment.objects.claim(session.pk, [row.public], uuid.uuid4())


def test_another_sessions_file_cannot_be_claimed(session: Session, bob: User) -> None:
    row = add(make_session(bob))
    with pytest.raises(RunError):
        Attachment.objects.claim(session.pk, [row.public], uuid.uuid4())


def test_discarding_leaves_bytes_that_another_row_holds(session: Session) -> None:
    first, second = add(session), add(session)
    Attachment.objects.discard([first], session.owner_id)
    assert Blob.objects.count() == 1
    Attachment.objects.discard([second], session.owner_id)
    assert Blob.objects.count() == 0


def test_erasing_a_session_leaves_no_byte(session: Session) -> None:
    add(session)
    session.erase()
    assert (Attachment.objects.count(), Blob.objects.count()) == (0, 0)


def test_a_copy_counts_only_at_its_own_door(session: Session) -> None:
    row = add(session)
    assert not row.is_at("door")
    row.place("https://example.test/files/a", "door", None)
    assert row.is_at("door") and not row.is_at("other")
