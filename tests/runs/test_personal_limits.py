"""No person has more runs at once, or sends more in a minute, than they may: in any way, in any process."""

import asyncio
import random
import uuid
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import timedelta
from functools import partial

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.db import connections
from django.utils import timezone

from sessions_app.error_codes import RefusalCode
from sessions_app.errors import OverLimit, PipewebError
from sessions_app.models import Notification, PersonalLimits, QueuedMessage, Run, Session
from sessions_app.runs.continuation import continue_session
from sessions_app.runs.history_edits import fork_session
from sessions_app.runs.processes import sessions_left_waiting
from sessions_app.runs.run_poller import RunPoller
from sessions_app.runs.runner import Runner
from sessions_app.runs.side_requests import SHORTEN, draft_summary
from sessions_app.runs.start import start_edit, start_next, start_retry, start_send
from tests.factories import make_exchange, make_session
from tests.runs.running import running, send, watch

RUNS, SENDS = 3, 12


@pytest.fixture
def limits(transactional_db: None, alice: User) -> PersonalLimits:
    return PersonalLimits.objects.create(user=alice, runs_at_once=RUNS, sends_per_minute=SENDS)


@pytest.fixture
def sessions(limits: PersonalLimits, alice: User) -> list[Session]:
    return [make_session(alice) for _ in range(8)]


@pytest.fixture
async def other(limits: PersonalLimits) -> AsyncIterator[Runner]:
    """A second process."""
    async with running() as runner:
        yield runner


@pytest.fixture
def many_threads() -> Iterator[ThreadPoolExecutor]:
    """Threads with database connections of their own, as processes have."""
    with ThreadPoolExecutor(8) as pool:
        yield pool


def started(session: Session, text: str = "Hello") -> Run:
    run = start_send(session.pk, uuid.uuid4(), text, "here")
    assert run is not None
    return run


def outcome(session: Session) -> str:
    """What became of one message: a run, a queued message, or the code of its refusal."""
    try:
        return "run" if start_send(session.pk, uuid.uuid4(), "Hi", "here") else "queued"
    except OverLimit as error:
        return error.reason.value
    finally:
        connections.close_all()


def test_processes_that_start_at_the_same_moment_do_not_exceed_the_limit(
    sessions: list[Session], many_threads: ThreadPoolExecutor
) -> None:
    found = list(many_threads.map(outcome, sessions))
    assert sorted(found) == ["run"] * RUNS + ["runs_at_once"] * (len(sessions) - RUNS)


def test_messages_that_wait_are_counted_at_the_same_moment_too(
    sessions: list[Session], limits: PersonalLimits, many_threads: ThreadPoolExecutor
) -> None:
    started(sessions[0])
    limits.sends_per_minute = 4
    limits.save()
    found = list(many_threads.map(outcome, [sessions[0]] * 8))
    assert sorted(found) == ["queued"] * 3 + ["sends_per_minute"] * 5
    assert QueuedMessage.objects.count() == 3


@pytest.mark.parametrize("seed", range(6))
async def test_whatever_is_sent_and_ended_in_two_processes_no_limit_is_exceeded(
    sessions: list[Session], runner: Runner, other: Runner, seed: int
) -> None:
    luck = random.Random(seed)
    for _ in range(6):
        await asyncio.gather(
            *(act(luck, luck.choice([runner, other]), luck.choice(sessions)) for _ in range(6))
        )
        assert await Run.objects.active().acount() <= RUNS
        sent = await Run.objects.exclude(sent_at=None).acount()
        assert sent + await QueuedMessage.objects.acount() <= SENDS
    for process in (runner, other):
        for live in list(process.live_runs.values()):
            process.cancel(live)
    await asyncio.gather(runner.drain(), other.drain())


async def act(luck: random.Random, process: Runner, session: Session) -> None:
    """Sends, or stops a run."""
    if luck.random() < 0.3 and process.live_runs:
        process.cancel(luck.choice(list(process.live_runs.values())))
        return
    with suppress(OverLimit):
        await process.send(session.pk, uuid.uuid4(), luck.choice(["/slow", "Hello"]))


@pytest.mark.parametrize("way", ["send", "retry", "edit"])
def test_every_way_to_ask_is_refused(sessions: list[Session], limits: PersonalLimits, way: str) -> None:
    run = started(sessions[0])
    run.end(Run.Status.COMPLETED)
    limits.sends_per_minute = 1
    limits.save()
    assert run.trigger
    ways = {
        "send": partial(start_send, sessions[0].pk, uuid.uuid4(), "Hi", "here"),
        "retry": partial(start_retry, sessions[0].pk, uuid.uuid4(), run.public, "here"),
        "edit": partial(start_edit, sessions[0].pk, uuid.uuid4(), run.trigger.public, "Hi", "here"),
    }
    with pytest.raises(OverLimit) as refused:
        ways[way]()
    assert refused.value.reason is RefusalCode.SENDS_PER_MINUTE
    assert 50 <= (refused.value.seconds or 0) <= 60
    Run.objects.update(sent_at=timezone.now() - timedelta(seconds=61))
    assert ways[way]() is not None


def test_a_message_that_arrives_twice_is_never_refused(
    sessions: list[Session], limits: PersonalLimits
) -> None:
    client_id = uuid.uuid4()
    assert start_send(sessions[0].pk, client_id, "Hi", "here")
    Run.objects.update(status=Run.Status.COMPLETED)
    started(sessions[1])
    limits.sends_per_minute = limits.runs_at_once = 1
    limits.save()
    assert start_send(sessions[0].pk, client_id, "Hi", "here") is None
    assert Run.objects.count() == 2


def test_a_busy_session_lets_a_message_wait_also_at_the_limit_of_runs(
    sessions: list[Session], limits: PersonalLimits
) -> None:
    limits.runs_at_once = 1
    limits.save()
    started(sessions[0])
    assert outcome(sessions[0]) == "queued" and outcome(sessions[1]) == "runs_at_once"


def test_a_message_that_waited_starts_when_there_is_room(
    sessions: list[Session], limits: PersonalLimits
) -> None:
    first = started(sessions[0])
    assert outcome(sessions[0]) == "queued"
    limits.runs_at_once, limits.sends_per_minute = 1, 2
    limits.save()
    first.end(Run.Status.COMPLETED)
    Run.objects.filter(pk=first.pk).update(sent_at=None)
    elsewhere = started(sessions[1])
    assert start_next(sessions[0].pk, "here") is None
    QueuedMessage.objects.update(queued_at=timezone.now() - timedelta(seconds=20))
    assert sessions_left_waiting() == [sessions[0].pk]
    elsewhere.end(Run.Status.COMPLETED)
    run = start_next(sessions[0].pk, "here")
    assert run and run.sent_at and timezone.now() - run.sent_at > timedelta(seconds=19)


def test_going_on_by_itself_is_no_message_but_a_run(sessions: list[Session], limits: PersonalLimits) -> None:
    limits.sends_per_minute = 1
    limits.save()
    run = started(sessions[0])
    make_exchange(run)
    run.end(Run.Status.COMPLETED)
    following = continue_session(run, Run.Status.COMPLETED, "max_tokens", "here")
    assert following and following.sent_at is None
    make_exchange(following)
    following.end(Run.Status.COMPLETED)
    limits.runs_at_once = 0
    limits.save()
    assert continue_session(following, Run.Status.COMPLETED, "max_tokens", "here") is None
    told = Notification.objects.filter(kind=Notification.Kind.GUARD_RAIL).get()
    assert "Your limit is 0 at once" in told.text


async def test_a_draft_counts_as_a_run(runner: Runner, session: Session, alice: User) -> None:
    await PersonalLimits.objects.acreate(user=alice, runs_at_once=1)
    run = await send(runner, session, "/slow")
    with pytest.raises(OverLimit):
        await draft_summary(runner.gateway, session, [], SHORTEN)
    await runner.stop(session.pk, run)
    await runner.drain()
    drafts = [draft_summary(runner.gateway, session, [], SHORTEN) for _ in range(3)]
    ended = await asyncio.gather(*drafts, return_exceptions=True)
    assert sum(isinstance(one, OverLimit) for one in ended) == 2
    await draft_summary(runner.gateway, session, [], SHORTEN)


def test_a_fork_is_a_session(sessions: list[Session], limits: PersonalLimits) -> None:
    run = started(sessions[0])
    make_exchange(run)
    run.end(Run.Status.COMPLETED)
    limits.sessions = len(sessions)
    limits.save()
    sessions[0].refresh_from_db()
    assert sessions[0].head
    with pytest.raises(PipewebError):
        fork_session(sessions[0].pk, sessions[0].head.public)
    assert Session.objects.count() == len(sessions)


async def test_the_runs_of_a_deactivated_person_are_stopped(
    runner: Runner, session: Session, alice: User
) -> None:
    run = await send(runner, session, "/slow")
    await User.objects.filter(pk=alice.pk).aupdate(is_active=False)
    await RunPoller(runner).poll()
    assert (await watch(runner, session, run))[-1]["status"] == "stopped"
    await runner.drain()
    with pytest.raises(PipewebError):
        await runner.send(session.pk, uuid.uuid4(), "Hello")
    await QueuedMessage.objects.acreate(session=session, client_id=uuid.uuid4(), text="Hi")
    assert await sync_to_async(start_next)(session.pk, "here") is None


def test_what_a_start_costs(sessions: list[Session], django_assert_max_num_queries: object) -> None:
    """One statement for the limits of runs and of messages, whatever else the person does."""
    started(sessions[0])
    with django_assert_max_num_queries(12):  # type: ignore[operator]
        started(sessions[1])


def test_messages_of_a_time_when_the_clock_was_wrong_do_not_count(
    sessions: list[Session], limits: PersonalLimits
) -> None:
    limits.sends_per_minute = 1
    limits.save()
    started(sessions[0])
    Run.objects.update(sent_at=timezone.now() + timedelta(hours=1))
    started(sessions[1])
    with pytest.raises(OverLimit):
        started(sessions[2])
