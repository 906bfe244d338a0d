"""Erasing sessions and people: everything of theirs, nothing of others, and no cascade in Python."""

import uuid
from datetime import timedelta
from unittest import mock

from django.contrib.auth.models import User
from django.db.models.deletion import Collector
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from sessions_app.models import (
    Blob,
    Exchange,
    QueuedMessage,
    RawChunk,
    Run,
    RunLog,
    Session,
    Source,
    Todo,
    Turn,
)
from tests.admin.test_confirmed import act_twice
from tests.factories import make_history, make_run, make_session, play_flight

TURNS = 5_000


def erase_one(root: Client, session: Session) -> None:
    place = reverse("admin:sessions_app_session_delete", args=[session.pk])
    assert root.post(place, {"post": "yes"}).status_code == 302


def choose(root: Client, action: str, kind: str, *rows: Session | User | Run, sure: bool = True) -> str:
    place = reverse(f"admin:{kind}_changelist")
    chosen = [str(row.pk) for row in rows]
    data = {"action": action, "_selected_action": chosen} | ({"post": "yes"} if sure else {})
    return root.post(place, data, follow=True).content.decode()


def rows_left() -> int:
    kinds = (Session, Turn, Run, RunLog, Exchange, RawChunk, Source, Blob, Todo, QueuedMessage)
    return sum(kind.objects.count() for kind in kinds)


def grow_large(session: Session) -> None:
    make_history(session, 1)
    blob = Blob.objects.first()
    assert blob is not None
    Turn.objects.bulk_create(
        Turn(
            public=uuid.uuid4(),
            session=session,
            depth=depth,
            kind="user_task",
            content=blob,
            text="words " * 20,
        )
        for depth in range(TURNS)
    )
    exchange = session.exchanges.get()
    RawChunk.objects.bulk_create(
        RawChunk(exchange=exchange, seq=9 + n, ms=n, body=b"{}" * 200) for n in range(TURNS)
    )


def test_erasing_a_session_leaves_no_row_of_it(root: Client, alice: User) -> None:
    session = make_session(alice)
    play_flight(session)
    Todo.objects.create(session=session, position=1, title="Pack")
    QueuedMessage.objects.create(session=session, client_id=uuid.uuid4(), text="And then?")
    RunLog.objects.create(run=session.runs.get(), seq_from=0, seq_to=1, body=b"{}")
    erase_one(root, session)
    assert rows_left() == 0


def test_erasing_a_session_leaves_the_others_whole(root: Client, alice: User) -> None:
    kept, doomed = make_session(alice), make_session(alice)
    exchanges = make_history(kept, 2)
    make_history(doomed, 2)
    erase_one(root, doomed)
    assert all(Exchange.objects.get(pk=exchange.pk).is_faithful() for exchange in exchanges)


def test_a_large_session_is_erased_quickly_and_without_a_cascade(root: Client, alice: User) -> None:
    session = make_session(alice)
    grow_large(session)
    collected = []
    original = Collector.add

    def spy(self: Collector, objs: object, *args: object, **kwargs: object) -> object:
        rows = list(objs)  # type: ignore[call-overload]
        collected.extend(rows)
        return original(self, rows, *args, **kwargs)  # type: ignore[arg-type]

    with mock.patch.object(Collector, "add", spy):
        erase_one(root, session)
    assert len(collected) < 10
    assert rows_left() == 0


def test_many_are_erased_after_a_page_that_asks(root: Client, alice: User) -> None:
    sessions = [make_session(alice), make_session(alice)]
    make_history(sessions[0], 1)
    page = choose(root, "delete_selected", "sessions_app_session", *sessions, sure=False)
    assert "Are you sure" in page
    assert "Turns: 2" in page
    assert Session.objects.count() == 2
    choose(root, "delete_selected", "sessions_app_session", *sessions)
    assert rows_left() == 0


def test_erasing_a_person_leaves_no_byte_of_theirs(root: Client, alice: User, bob: User) -> None:
    make_history(make_session(alice), 2)
    make_history(make_session(bob), 1)
    root.post(reverse("admin:auth_user_delete", args=[alice.pk]), {"post": "yes"})
    assert not User.objects.filter(username="alice").exists()
    assert not Blob.objects.filter(owner_id=alice.pk).exists()
    assert Session.objects.get().owner == bob


def test_many_people_are_erased_at_once(root: Client, alice: User, bob: User) -> None:
    make_history(make_session(alice), 1)
    make_history(make_session(bob), 1)
    choose(root, "delete_selected", "auth_user", alice, bob)
    assert rows_left() == 0
    assert User.objects.get().username == "root"


def test_staff_without_the_right_can_not_erase(alice: User) -> None:
    person = Client()
    person.force_login(User.objects.create_user("steward", is_staff=True))
    session = make_session(alice)
    place = reverse("admin:sessions_app_session_delete", args=[session.pk])
    assert person.post(place, {"post": "yes"}).status_code == 403
    assert Session.objects.exists()


def test_stuck_runs_are_marked_interrupted_and_live_ones_are_left(
    root: Client, alice: User, bob: User
) -> None:
    stuck, live = make_run(make_session(alice)), make_run(make_session(bob))
    Run.objects.filter(pk=stuck.pk).update(heartbeat_at=timezone.now() - timedelta(minutes=5))
    assert "1 of 2 rows" in act_twice(root, "run", "interrupt", stuck, live)
    stuck.refresh_from_db()
    live.refresh_from_db()
    assert (stuck.status, live.status) == (Run.Status.INTERRUPTED, Run.Status.RUNNING)
