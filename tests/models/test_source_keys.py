"""The rows of a request's items are known without a query once they are committed."""

from collections.abc import Callable
from contextlib import AbstractContextManager

import pytest
from django.contrib.auth.models import User
from pytest_django import DjangoAssertNumQueries

from sessions_app.models import Session, Source
from sessions_app.models.origin import Origin
from sessions_app.models.source import digest
from sessions_app.models.source_keys import store_sources
from sessions_app.prompt.layers import Layer
from sessions_app.prompt.payload import Item
from tests import factories

pytestmark = pytest.mark.django_db

Committed = Callable[..., AbstractContextManager[object]]


def item(name: str, body: bytes = b"x") -> Item:
    return Item(Layer.STATIC, name, "user", "text", body, b"", digest(body), 1)


@pytest.fixture
def session(alice: User) -> Session:
    return factories.make_session(alice)


ITEMS = [item("tools"), item("turn:1", b"one"), item("turn:2", b"two"), item("turn:1", b"one")]


def test_committed_sources_are_known_without_a_query(
    session: Session,
    django_capture_on_commit_callbacks: Committed,
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        first = store_sources(session, ITEMS)
    with django_assert_num_queries(0):
        assert store_sources(session, ITEMS) == first
    assert first[1] == first[3] and len(set(first)) == 3 == Source.objects.filter(session=session).count()


def test_a_source_with_other_bytes_is_another_row(
    session: Session, django_capture_on_commit_callbacks: Committed
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        before = store_sources(session, ITEMS)
    after = store_sources(session, [*ITEMS[:1], item("turn:1", b"changed")])
    assert after[0] == before[0] and after[1] not in before


def test_rows_that_were_not_committed_are_looked_for_again(session: Session) -> None:
    first = store_sources(session, ITEMS)
    Source.objects.filter(session=session).delete()
    again = store_sources(session, ITEMS)
    assert set(again) == set(Source.objects.filter(session=session).values_list("pk", flat=True))
    assert len(first) == len(again)


def test_what_moving_captured_requests_deletes_is_stored_again(
    session: Session, django_capture_on_commit_callbacks: Committed
) -> None:
    session.origin = Origin.CAPTURED
    with django_capture_on_commit_callbacks(execute=True):
        store_sources(session, ITEMS)
    Source.objects.filter(session=session, name="tools").delete()
    with django_capture_on_commit_callbacks(execute=True):
        again = store_sources(session, ITEMS)
    assert set(again) == set(Source.objects.filter(session=session).values_list("pk", flat=True))
