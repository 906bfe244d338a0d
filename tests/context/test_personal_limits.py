"""What a person may do: where the value comes from, and who is refused."""

import uuid
from datetime import timedelta

import pytest
from django.contrib.auth.models import Group, User
from django.db import IntegrityError, transaction
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.context.personal_limits import (
    LIMIT_NAMES,
    WAITING,
    Activity,
    EffectiveLimits,
    active_runs,
    activity_of,
    check_draft,
    check_imports,
    check_runs,
    check_send,
    check_sessions,
    check_shared_links,
    limits_of,
    merged,
    room_for_session,
)
from sessions_app.error_codes import RefusalCode
from sessions_app.errors import OverLimit
from sessions_app.models import ImportJob, PersonalLimits, QueuedMessage, Run, Session, SharedLink
from tests.factories import make_run, make_session

pytestmark = pytest.mark.django_db

values = st.none() | st.integers(0, 50)
rows = st.fixed_dictionaries(dict.fromkeys(LIMIT_NAMES, values))


@given(st.none() | rows, st.lists(rows, max_size=3), st.none() | rows)
def test_the_nearest_level_counts_and_of_groups_the_most_generous(
    own: dict[str, int | None] | None, groups: list[dict[str, int | None]], site: dict[str, int | None] | None
) -> None:
    levels = [[own] if own else [], groups, [site] if site else []]
    keys: tuple[dict[str, object], ...] = ({"user_id": 1}, {"group_id": 1}, {"everybody": True})
    found = merged(
        [PersonalLimits(**row, **key) for level, key in zip(levels, keys, strict=True) for row in level]
    )
    for name in LIMIT_NAMES:
        known = [[row[name] for row in level if row[name] is not None] for level in levels]
        wanted = next((max(level) for level in known if level), getattr(EffectiveLimits(), name))  # type: ignore[type-var]
        assert getattr(found, name) == wanted


def test_a_change_holds_at_once(alice: User) -> None:
    assert limits_of(alice.pk) == EffectiveLimits()
    PersonalLimits.objects.create(sockets=5)
    assert limits_of(alice.pk).sockets == 5
    group = Group.objects.create(name="guests")
    PersonalLimits.objects.create(group=group, sockets=7)
    assert limits_of(alice.pk).sockets == 5
    alice.groups.add(group)
    assert limits_of(alice.pk).sockets == 7
    PersonalLimits.objects.create(user=alice, sockets=3)
    assert limits_of(alice.pk).sockets == 3
    PersonalLimits.objects.all().delete()
    assert limits_of(alice.pk) == EffectiveLimits()


@pytest.mark.parametrize("count", [1, 4])
def test_however_many_groups_they_are_one_query(
    alice: User, count: int, django_assert_num_queries: object
) -> None:
    for number in range(count):
        alice.groups.add(group := Group.objects.create(name=str(number)))
        PersonalLimits.objects.create(group=group, sessions=number)
    with django_assert_num_queries(1):  # type: ignore[operator]
        assert limits_of(alice.pk).sessions == count - 1
        limits_of(alice.pk)


def test_a_row_is_of_one_and_everybody_has_one(alice: User) -> None:
    group = Group.objects.create(name="guests")
    PersonalLimits.objects.create()
    for fields in ({}, {"user": alice, "group": group}):
        with pytest.raises(IntegrityError), transaction.atomic():
            PersonalLimits.objects.create(**fields)


def test_activity_is_of_this_person_and_this_minute(alice: User, bob: User) -> None:
    now, session = timezone.now(), make_session(alice)
    active = make_run(session)
    Run.objects.filter(pk=active.pk).update(sent_at=now - timedelta(minutes=5))
    for owner, age in ((alice, 10), (alice, 61), (bob, 1)):
        run = make_run(make_session(owner))
        Run.objects.filter(pk=run.pk).update(status="completed", sent_at=now - timedelta(seconds=age))
        QueuedMessage.objects.create(session=run.session, client_id=uuid.uuid4(), text="Hi")
    found = activity_of(alice.pk, timezone.now())
    assert active_runs(found) == 1
    assert sorted(row.status for row in found) == ["completed", WAITING, WAITING, "running"]


def test_a_message_too_many_says_when_there_is_room(alice: User) -> None:
    PersonalLimits.objects.create(user=alice, sends_per_minute=2)
    now, client_id = timezone.now(), uuid.uuid4()
    for age in (50, 20):
        run = make_run(make_session(alice))
        Run.objects.filter(pk=run.pk).update(sent_at=now - timedelta(seconds=age))
    activity = activity_of(alice.pk, now)
    with pytest.raises(OverLimit) as refused:
        check_send(alice.pk, activity, client_id, now)
    assert refused.value.figures == {"used": 2, "limit": 2, "seconds": 10}
    check_send(alice.pk, activity, client_id, now + timedelta(seconds=10))


def test_room_comes_when_enough_of_the_oldest_are_a_minute_old_whatever_their_order(alice: User) -> None:
    PersonalLimits.objects.create(user=alice, sends_per_minute=2)
    now, again = timezone.now(), uuid.uuid4()
    ages: list[tuple[int, uuid.UUID]] = [
        (20, uuid.uuid4()),
        (50, uuid.uuid4()),
        (40, uuid.uuid4()),
        (1, again),
    ]
    seen = [Activity(1, WAITING, now - timedelta(seconds=age), key) for age, key in ages]
    with pytest.raises(OverLimit) as refused:
        check_send(alice.pk, [*seen, Activity(1, WAITING, None, uuid.uuid4())], again, now)
    assert refused.value.figures == {"used": 3, "limit": 2, "seconds": 20}


def test_nothing_is_allowed_by_a_limit_of_0(alice: User) -> None:
    PersonalLimits.objects.create(user=alice, sends_per_minute=0, runs_at_once=0, sessions=0)
    with pytest.raises(OverLimit) as refused:
        check_send(alice.pk, [], uuid.uuid4(), timezone.now())
    assert refused.value.seconds is None
    with pytest.raises(OverLimit):
        check_runs(alice.pk, 0)
    with pytest.raises(OverLimit), room_for_session(alice.pk):
        raise AssertionError("the block ran")


def test_drafts_count_beside_runs(alice: User) -> None:
    PersonalLimits.objects.create(user=alice, runs_at_once=2)
    make_run(make_session(alice))
    check_draft(alice.pk, 0)
    with pytest.raises(OverLimit):
        check_draft(alice.pk, 1)


def test_deleting_a_session_makes_room_for_another(alice: User) -> None:
    PersonalLimits.objects.create(user=alice, sessions=1)
    session = make_session(alice)
    with pytest.raises(OverLimit) as refused, room_for_session(alice.pk):
        make_session(alice)
    assert refused.value.reason is RefusalCode.SESSIONS
    session.soft_delete()
    with room_for_session(alice.pk):
        make_session(alice)
    assert Session.objects.of(alice).count() == 1


def test_sessions_and_links_of_others_take_no_room(alice: User, bob: User) -> None:
    PersonalLimits.objects.create(sessions=1, shared_links=1)
    session = make_session(bob)
    SharedLink.objects.make(session, snapshot=b"{}", has_details=False, files=[], expires_at=None)
    check_sessions(alice.pk)
    check_shared_links(alice.pk)
    for check in (check_sessions, check_shared_links):
        with pytest.raises(OverLimit) as refused:
            check(bob.pk)
        assert (refused.value.figures["used"], refused.value.figures["limit"]) == (1, 1)


def test_a_person_imports_two_files_at_a_time(alice: User, bob: User) -> None:
    for state in reversed(ImportJob.State.values):
        check_imports(alice.pk)
        ImportJob.objects.create(owner=alice, state=state)
    with pytest.raises(OverLimit) as refused:
        check_imports(alice.pk)
    assert refused.value.reason is RefusalCode.IMPORTS_AT_ONCE
    check_imports(bob.pk)
