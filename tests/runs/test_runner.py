"""Runs outlive sockets, stop at once and start once."""

import asyncio
import uuid
from contextlib import aclosing

import pytest

from sessions_app.errors import RunError, SessionBusy
from sessions_app.events import Block, Delta, Finished, Result, Started
from sessions_app.events import Call as CallEvent
from sessions_app.models import Exchange, Run, Session, Turn
from sessions_app.prompt.turns import TurnKind
from sessions_app.runs.live import RunEvent
from sessions_app.runs.runner import Runner


async def watch(runner: Runner, session: Session, run: uuid.UUID | None = None, after: int = -1) -> list[RunEvent]:
    """All events up to the end of the run."""
    seen: list[RunEvent] = []
    async with aclosing(runner.follow(session.pk, run, after)) as events:
        async for event in events:
            seen.append(event)
            if isinstance(event, Finished):
                break
    return seen


async def until_text(runner: Runner, session: Session) -> None:
    async with aclosing(runner.follow(session.pk, None, -1)) as events:
        async for event in events:
            if isinstance(event, Delta) and event.kind == "text":
                return


async def test_events_are_numbered_without_gaps_from_start_to_end(runner: Runner, session: Session) -> None:
    await runner.send(session.pk, uuid.uuid4(), "Hello")
    events = await watch(runner, session)
    assert [event.seq for event in events] == list(range(len(events)))
    assert isinstance(events[0], Started) and isinstance(events[-1], Finished)
    assert any(isinstance(event, Block) for event in events)


async def test_a_tool_round_shows_each_call_and_its_result(runner: Runner, session: Session) -> None:
    await runner.send(session.pk, uuid.uuid4(), "Check the weather in Paris and London.")
    events = await watch(runner, session)
    assert [event.index for event in events if isinstance(event, CallEvent)] == [0, 1]
    assert sorted(event.index for event in events if isinstance(event, Result)) == [0, 1]


async def test_two_viewers_see_the_same(runner: Runner, session: Session) -> None:
    await runner.send(session.pk, uuid.uuid4(), "Hello")
    first, second = await asyncio.gather(watch(runner, session), watch(runner, session))
    assert first == second


async def test_a_viewer_who_comes_back_gets_only_what_it_missed(runner: Runner, session: Session) -> None:
    run = await runner.send(session.pk, uuid.uuid4(), "Hello")
    whole = asyncio.create_task(watch(runner, session))
    rest = await watch(runner, session, run, after=3)
    assert rest == (await whole)[4:]


async def test_the_run_goes_on_without_viewers(runner: Runner, session: Session) -> None:
    public = await runner.send(session.pk, uuid.uuid4(), "Hello")
    await runner.drain()
    assert (await Run.objects.aget(public=public)).status == Run.Status.COMPLETED


async def test_sending_twice_starts_one_run(runner: Runner, session: Session) -> None:
    client_id = uuid.uuid4()
    first = await runner.send(session.pk, client_id, "Hello")
    assert await runner.send(session.pk, client_id, "Hello") == first
    await runner.drain()
    assert await runner.send(session.pk, client_id, "Hello") == first
    assert await Run.objects.acount() == 1


async def test_a_second_message_is_refused_while_the_first_is_answered(runner: Runner, session: Session) -> None:
    await runner.send(session.pk, uuid.uuid4(), "/slow")
    with pytest.raises(SessionBusy):
        await runner.send(session.pk, uuid.uuid4(), "me too")


async def test_stop_keeps_the_partial_answer_and_labels_it(runner: Runner, session: Session) -> None:
    run = await runner.send(session.pk, uuid.uuid4(), "/slow")
    await until_text(runner, session)
    runner.stop(session.pk, run)
    await runner.drain()
    row = await Run.objects.aget(public=run)
    answer = await Turn.objects.aget(kind=TurnKind.MODEL_RESPONSE)
    assert row.status == Run.Status.STOPPED
    assert answer.cut and answer.text


async def test_stop_works_before_the_first_token(runner: Runner, session: Session) -> None:
    run = await runner.send(session.pk, uuid.uuid4(), "/slow")
    runner.stop(session.pk, run)
    await runner.drain()
    row = await Run.objects.aget(public=run)
    assert row.status == Run.Status.STOPPED
    assert not await Exchange.objects.filter(ended_at=None).aexists()


async def test_a_stopped_session_can_go_on(runner: Runner, session: Session) -> None:
    run = await runner.send(session.pk, uuid.uuid4(), "/slow")
    await until_text(runner, session)
    runner.stop(session.pk, run)
    await runner.drain()
    again = await runner.send(session.pk, uuid.uuid4(), "Hello")
    await runner.drain()
    assert (await Run.objects.aget(public=again)).status == Run.Status.COMPLETED


async def test_stop_of_somebody_elses_session_does_nothing(runner: Runner, session: Session) -> None:
    run = await runner.send(session.pk, uuid.uuid4(), "Hello")
    runner.stop(session.pk + 1, run)
    await runner.drain()
    assert (await Run.objects.aget(public=run)).status == Run.Status.COMPLETED


async def test_retry_answers_the_same_message_as_a_sibling(runner: Runner, session: Session) -> None:
    run = await runner.send(session.pk, uuid.uuid4(), "/drop")
    await runner.drain()
    await runner.retry(session.pk, uuid.uuid4(), run)
    await runner.drain()
    assert await Turn.objects.filter(kind=TurnKind.USER_TASK).acount() == 1
    parents = [turn.parent_id async for turn in Turn.objects.filter(kind=TurnKind.MODEL_RESPONSE)]
    assert len(parents) == 2 and len(set(parents)) == 1


async def test_retry_of_an_unknown_run_is_refused(runner: Runner, session: Session) -> None:
    with pytest.raises(RunError):
        await runner.retry(session.pk, uuid.uuid4(), uuid.uuid4())


async def test_shutting_down_marks_the_run_interrupted_and_keeps_its_text(runner: Runner, session: Session) -> None:
    run = await runner.send(session.pk, uuid.uuid4(), "/slow")
    await until_text(runner, session)
    await runner.shutdown()
    row = await Run.objects.aget(public=run)
    assert row.status == Run.Status.INTERRUPTED
    assert (await Turn.objects.aget(kind=TurnKind.MODEL_RESPONSE)).text
