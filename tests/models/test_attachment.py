import uuid
from io import BytesIO

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
    return Attachment.objects.add(session, name="a.png", mime="image/png", file=BytesIO(body))


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
    assert Attachment.objects.of_message(session.pk, message) == [row]


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


def test_every_session_of_its_owner_may_name_it_and_no_other_person(
    session: Session, alice: User, bob: User
) -> None:
    row = add(session)
    assert [*Attachment.objects.named_in(make_session(alice), {str(row.public)})] == [row]
    assert not Attachment.objects.named_in(make_session(bob), {str(row.public)})


def test_a_copy_counts_only_on_its_own_route(session: Session) -> None:
    row = add(session)
    assert not row.has_copy_at("here")
    row.set_copy("https://example.test/files/a", "here", None)
    assert row.has_copy_at("here") and not row.has_copy_at("other")
