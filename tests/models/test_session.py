"""Sessions: whose they are, what they are called, how they go."""

import uuid

import pytest
from django.contrib.auth.models import AnonymousUser, User

from sessions_app.models import Blob, Exchange, Run, Session, Source, Turn
from sessions_app.prompt.turns import user_task

pytestmark = pytest.mark.django_db


@pytest.fixture
def session(alice: User) -> Session:
    return Session.objects.create(owner=alice, model="gemini-3-flash-preview")


def test_a_session_exists_only_for_its_owner(session: Session, alice: User, bob: User) -> None:
    assert list(Session.objects.of(alice)) == [session]
    assert not Session.objects.of(bob) and not Session.objects.of(AnonymousUser())


def test_a_hidden_session_is_gone_from_its_owners_pages(session: Session, alice: User) -> None:
    session.soft_delete()
    assert not Session.objects.of(alice) and Session.objects.filter(pk=session.pk).exists()


def test_the_first_words_become_the_title(session: Session) -> None:
    session.set_title_from("one two three four five six seven eight nine")
    assert session.title == "one two three four five six seven eight…"


def test_a_title_chosen_by_hand_stays(session: Session) -> None:
    session.rename("  Mine  ")
    session.set_title_from("other words")
    assert session.title == "Mine"


def test_a_title_never_exceeds_its_column(session: Session) -> None:
    session.set_title_from("x" * 500)
    session.save()
    assert len(session.title) <= 120


def test_settings_of_another_version_do_not_break_a_session(session: Session) -> None:
    session.settings = {"temperature": 0, "from_the_future": True}
    assert session.options.temperature == 0


def test_erasing_takes_every_row_and_byte(session: Session) -> None:
    turn = Turn.append(session, user_task(str(uuid.uuid4()), "hello"), parent=None)
    run = Run.objects.create(session=session, client_id=uuid.uuid4(), trigger=turn)
    Turn.objects.filter(pk=turn.pk).update(run=run)
    session.erase()
    for model in (Session, Turn, Run, Exchange, Source, Blob):
        assert not model._default_manager.exists()
