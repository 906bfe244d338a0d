"""Notifications: numbers, limit, duplicates."""

import uuid

import pytest
from django.contrib.auth.models import User
from pytest_django import DjangoAssertNumQueries

from sessions_app.models import Notification, QueuedMessage, Session
from sessions_app.models.notification import KEPT
from tests.factories import make_session

notifications = Notification.objects


@pytest.fixture
def session(alice: User) -> Session:
    return make_session(alice)


def notify(session: Session, text: str = "Something.", **facts: str) -> Notification:
    return notifications.add(session.pk, "custom", text, **facts)


def test_numbers_count_from_one_in_each_session(session: Session, bob: User) -> None:
    assert [notify(session, source=source).number for source in "abc"] == [1, 2, 3]
    assert notify(make_session(bob)).number == 1


def test_an_equal_open_notification_is_not_added_again(session: Session) -> None:
    assert notify(session, source="a").pk == notify(session, source="a").pk
    notifications.mark_seen(session.pk)
    assert notify(session, source="a").number == 2


def test_a_blocked_notification_is_seen_with_the_next_request(session: Session) -> None:
    held = notify(session, status="blocked")
    assert [one.pk for one in notifications.mark_seen(session.pk)] == [held.pk]
    held.refresh_from_db()
    assert held.status == "seen" and held.seen_at


def test_a_message_that_still_waits_is_not_seen(session: Session) -> None:
    waiting, answered = uuid.uuid4(), uuid.uuid4()
    QueuedMessage.objects.create(session=session, client_id=waiting, text="Later")
    for client_id in (waiting, answered):
        notifications.add(session.pk, "user_message", "Hello", source=str(client_id))
    assert [one.source for one in notifications.mark_seen(session.pk)] == [str(answered)]


def test_looking_costs_one_query_when_there_is_nothing(
    session: Session, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_num_queries(1):
        assert notifications.mark_seen(session.pk) == []


def test_a_hundred_are_kept_and_the_oldest_seen_go_first(session: Session) -> None:
    open_one = notify(session, source="open")
    for number in range(KEPT + 2):
        notify(session, source=str(number))
        notifications.filter(source=str(number)).update(status="seen")
    kept = list(notifications.filter(session=session))
    assert len(kept) == KEPT
    assert kept[0].pk == open_one.pk and kept[-1].number == KEPT + 3


def test_what_nobody_has_seen_is_never_dropped(session: Session) -> None:
    for number in range(KEPT + 5):
        notify(session, source=str(number))
    assert notifications.filter(session=session).count() == KEPT + 5
    assert notify(session, source="next").number == KEPT + 6


def test_a_line_names_number_and_kind(session: Session) -> None:
    assert notify(session, "It rains.").line == "[N1] notice — It rains."
