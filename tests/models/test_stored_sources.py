"""Sources are stored once per session; keys that are committed are kept in memory."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager

import pytest
from django.contrib.auth.models import User
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from sessions_app.models import Exchange, Session, Source
from sessions_app.models.blob import digest
from sessions_app.models.origin import Origin
from sessions_app.models.payload_purge import purge_payloads
from sessions_app.models.stored_sources import FEW, source_keys, store_sources
from sessions_app.prompt.layers import Layer
from sessions_app.prompt.payload import Item
from tests.factories import finish, make_exchange, make_run, make_session

pytestmark = pytest.mark.django_db

Committing = Callable[..., AbstractContextManager[object]]


@pytest.fixture
def session(alice: User) -> Session:
    return make_session(alice)


@pytest.fixture(autouse=True)
def forgetful() -> Iterator[None]:
    source_keys.clear()
    yield
    source_keys.clear()


def items(count: int, start: int = 0) -> list[Item]:
    return [item(number) for number in range(start, start + count)]


def tables_read(run: Callable[[], object]) -> list[str]:
    with CaptureQueriesContext(connection) as seen:
        run()
    return [sql.split()[0] for one in seen.captured_queries if "SAVEPOINT" not in (sql := one["sql"])]


def test_what_is_committed_is_not_asked_for_again(
    session: Session, django_capture_on_commit_callbacks: Committing
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        keys = store_sources(session, items(FEW + 3))
    again: list[list[int]] = []
    assert not tables_read(lambda: again.append(store_sources(session, items(FEW + 3))))
    assert again == [keys]


def test_a_few_new_ones_are_inserted_at_once_and_many_are_looked_up(
    session: Session, django_capture_on_commit_callbacks: Committing
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        store_sources(session, items(2))
    assert tables_read(lambda: store_sources(session, items(4))) == ["INSERT", "INSERT"]
    assert tables_read(lambda: store_sources(session, items(FEW + 3))) == ["SELECT", "INSERT", "INSERT"]


def test_those_that_another_process_stored_are_the_same_rows(session: Session) -> None:
    keys = store_sources(session, items(3))
    assert store_sources(session, items(3)) == keys
    assert Source.objects.filter(session=session).count() == 3


def test_what_was_rolled_back_is_not_remembered(session: Session) -> None:
    with transaction.atomic():
        store_sources(session, items(1))
        transaction.set_rollback(True)
    (key,) = store_sources(session, items(1))
    assert Source.objects.filter(session=session, pk=key).exists()


def test_two_sessions_have_rows_of_their_own(
    session: Session, alice: User, django_capture_on_commit_callbacks: Committing
) -> None:
    other = make_session(alice)
    with django_capture_on_commit_callbacks(execute=True):
        mine, theirs = store_sources(session, items(2)), store_sources(other, items(2))
    assert not {*mine} & {*theirs}
    assert {row.session_id for row in Source.objects.filter(pk__in=theirs)} == {other.pk}


def item(number: int) -> Item:
    wire = b'{"text":"%d"}' % number
    return Item(Layer.BUFFERED, f"turn:{number}", "user", "text", wire, b",", digest(wire), 3)


def test_what_moving_captured_requests_deletes_is_stored_again(
    session: Session, django_capture_on_commit_callbacks: Committing
) -> None:
    session.origin = Origin.CAPTURED
    with django_capture_on_commit_callbacks(execute=True):
        store_sources(session, items(3))
    Source.objects.filter(session=session, name=items(1)[0].source).delete()
    with django_capture_on_commit_callbacks(execute=True):
        again = store_sources(session, items(3))
    assert set(again) == set(Source.objects.filter(session=session).values_list("pk", flat=True))


def test_what_a_purge_deletes_is_stored_again(
    session: Session, django_capture_on_commit_callbacks: Committing
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        store_sources(session, items(3))
    finish(make_exchange(make_run(session)).run)
    Exchange.objects.update(ended_at=timezone.now())
    assert purge_payloads(session.pk) == 1
    again = store_sources(Session.objects.get(pk=session.pk), items(3))
    assert set(again) == set(Source.objects.filter(session=session).values_list("pk", flat=True))
