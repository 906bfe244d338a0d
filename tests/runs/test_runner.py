"""Runs outlive sockets, stop at once, start once, and let messages wait."""

import asyncio
import uuid

import pytest

from sessions_app.errors import RunError, SessionBusy
from sessions_app.metrics import ACTIVE_RUNS, REGISTRY
from sessions_app.models import Exchange, QueuedMessage, RawChunk, Run, RunLog, Session, Turn
from sessions_app.prompt.turns import TurnKind
from sessions_app.runs.runner import Runner
from tests.runs.conftest import Ask
from tests.runs.running import running_held, send, watch


async def status_of(public: uuid.UUID) -> str:
    return (await Run.objects.aget(public=public)).status


async def begin_slowly(runner: Runner, session: Session) -> uuid.UUID:
    """A run that has shown some text and has much to say."""
    run = await send(runner, session, "/slow")
    await watch(runner, session, run, until="text")
    return run


async def test_events_are_numbered_without_gaps_from_start_to_end(runner: Runner, session: Session) -> None:
    events = await watch(runner, session, await send(runner, session, "Hello"))
    assert [event["seq"] for event in events] == list(range(len(events)))
    assert (events[0]["type"], events[-1]["type"]) == ("started", "finished")
    assert any(event["type"] == "block" for event in events)


async def test_a_tool_round_shows_each_call_and_its_result(runner: Runner, session: Session) -> None:
    events = await watch(
        runner, session, await send(runner, session, "Check the weather in Paris and London.")
    )
    assert [event["index"] for event in events if event["type"] == "call"] == [0, 1]
    assert sorted(event["index"] for event in events if event["type"] == "result") == [0, 1]


async def test_two_viewers_see_the_same(runner: Runner, session: Session) -> None:
    run = await send(runner, session, "Hello")
    first, second = await asyncio.gather(watch(runner, session, run), watch(runner, session, run))
    assert first == second


async def test_a_viewer_who_comes_back_gets_only_what_it_missed(runner: Runner, session: Session) -> None:
    run = await send(runner, session, "Hello")
    whole = asyncio.create_task(watch(runner, session, run))
    rest = await watch(runner, session, run, after=3)
    assert rest == (await whole)[4:]


async def test_a_run_that_is_over_is_read_from_its_log(runner: Runner, session: Session) -> None:
    run = await send(runner, session, "Hello")
    whole = await watch(runner, session, run)
    await runner.drain()
    assert await watch(runner, session, run) == whole


async def test_a_page_ahead_of_the_log_gets_the_last_event(runner: Runner, session: Session) -> None:
    run = await send(runner, session, "Hello")
    await runner.drain()
    assert [event["type"] for event in await watch(runner, session, run, after=10_000)] == ["finished"]


async def test_the_run_continues_without_viewers(runner: Runner, session: Session) -> None:
    run = await send(runner, session, "Hello")
    await runner.drain()
    assert await status_of(run) == Run.Status.COMPLETED
    assert await RunLog.objects.filter(run__public=run).aexists()


async def test_sending_twice_starts_one_run(runner: Runner, session: Session) -> None:
    client_id = uuid.uuid4()
    for _ in range(3):
        await runner.send(session.pk, client_id, "Hello")
    await runner.drain()
    await runner.send(session.pk, client_id, "Hello")
    assert await Run.objects.acount() == 1 and not await QueuedMessage.objects.aexists()


async def test_two_tabs_sending_at_once_make_one_run_and_one_waiting_message(
    runner: Runner, session: Session
) -> None:
    await asyncio.gather(*(runner.send(session.pk, uuid.uuid4(), "/slow") for _ in range(2)))
    assert await Run.objects.acount() == 1 and await QueuedMessage.objects.acount() == 1


async def test_a_waiting_message_is_answered_once_after_the_first(session: Session) -> None:
    waiting = uuid.uuid4()
    async with running_held() as (runner, released):
        await send(runner, session, "Hello")
        await asyncio.gather(*(runner.send(session.pk, waiting, "And now?") for _ in range(2)))
        assert await QueuedMessage.objects.acount() == 1
        released.set()
        await runner.drain()
    second = await Run.objects.select_related("trigger").aget(client_id=waiting)
    assert second.status == Run.Status.COMPLETED and second.trigger and second.trigger.text == "And now?"
    assert await Run.objects.acount() == 2 and not await QueuedMessage.objects.aexists()


async def test_a_withdrawn_message_is_never_answered(runner: Runner, session: Session) -> None:
    run = await begin_slowly(runner, session)
    waiting = uuid.uuid4()
    await runner.send(session.pk, waiting, "never mind")
    await runner.withdraw(session.pk, waiting)
    await runner.stop(session.pk, run)
    await runner.drain()
    assert await Run.objects.acount() == 1 and not await QueuedMessage.objects.aexists()


async def test_after_a_stop_messages_wait_until_they_are_sent_again(runner: Runner, session: Session) -> None:
    run = await begin_slowly(runner, session)
    waiting = uuid.uuid4()
    await runner.send(session.pk, waiting, "Hello")
    await runner.stop(session.pk, run)
    await runner.drain()
    assert await QueuedMessage.objects.acount() == 1
    await runner.send(session.pk, waiting, "Hello")
    await runner.drain()
    assert await Run.objects.filter(client_id=waiting, status=Run.Status.COMPLETED).aexists()


async def test_stop_keeps_the_partial_answer_and_labels_it(runner: Runner, session: Session) -> None:
    run = await begin_slowly(runner, session)
    await runner.stop(session.pk, run)
    await runner.drain()
    answer = await Turn.objects.aget(kind=TurnKind.MODEL_RESPONSE)
    assert await status_of(run) == Run.Status.STOPPED
    assert answer.cut and answer.text


async def test_stop_works_before_the_first_token(runner: Runner, session: Session) -> None:
    run = await send(runner, session, "/slow")
    await runner.stop(session.pk, run)
    await runner.drain()
    assert await status_of(run) == Run.Status.STOPPED
    assert not await Exchange.objects.filter(ended_at=None).aexists()


async def test_a_stopped_session_can_continue(runner: Runner, session: Session) -> None:
    run = await begin_slowly(runner, session)
    await runner.stop(session.pk, run)
    await runner.drain()
    again = await send(runner, session, "Hello")
    await runner.drain()
    assert await status_of(again) == Run.Status.COMPLETED


async def test_stop_of_somebody_elses_session_does_nothing(runner: Runner, session: Session) -> None:
    run = await send(runner, session, "Hello")
    await runner.stop(session.pk + 1, run)
    await runner.drain()
    assert await status_of(run) == Run.Status.COMPLETED


async def test_retry_answers_the_same_message_as_a_sibling(runner: Runner, session: Session) -> None:
    run = await send(runner, session, "/drop")
    await runner.drain()
    await runner.retry(session.pk, uuid.uuid4(), run)
    await runner.drain()
    assert await Turn.objects.filter(kind=TurnKind.USER_TASK).acount() == 1
    parents = [turn.parent_id async for turn in Turn.objects.filter(kind=TurnKind.MODEL_RESPONSE)]
    assert len(parents) == 2 and len(set(parents)) == 1


async def test_retry_of_an_unknown_run_is_refused(runner: Runner, session: Session) -> None:
    with pytest.raises(RunError):
        await runner.retry(session.pk, uuid.uuid4(), uuid.uuid4())


async def test_retry_is_refused_while_the_session_answers(runner: Runner, session: Session) -> None:
    run = await begin_slowly(runner, session)
    with pytest.raises(SessionBusy):
        await runner.retry(session.pk, uuid.uuid4(), run)


async def test_shutting_down_marks_the_run_interrupted_and_keeps_its_text(
    runner: Runner, session: Session
) -> None:
    run = await begin_slowly(runner, session)
    await runner.shutdown()
    assert await status_of(run) == Run.Status.INTERRUPTED
    assert (await Turn.objects.aget(kind=TurnKind.MODEL_RESPONSE)).text


def figure(name: str, **labels: str) -> float:
    return REGISTRY.get_sample_value(name, labels) or 0.0


async def test_a_finished_run_counts_its_end_its_events_and_its_chunks(ask: Ask) -> None:
    ended = figure("pipeweb_runs_ended_total", status="completed")
    events, chunks = figure("pipeweb_events_total"), figure("pipeweb_chunks_total")
    await ask("Hello")
    assert figure("pipeweb_runs_ended_total", status="completed") == ended + 1
    logged = [wire async for row in RunLog.objects.all() for wire in row.wires]
    assert figure("pipeweb_events_total") == events + len(logged)
    assert figure("pipeweb_chunks_total") == chunks + await RawChunk.objects.acount()


@pytest.mark.parametrize(("text", "kind"), [("/error 400", "BadRequest"), ("/empty", "NoAnswer")])
async def test_a_failure_counts_under_its_class(ask: Ask, text: str, kind: str) -> None:
    before = figure("pipeweb_errors_total", kind=kind)
    await ask(text)
    assert figure("pipeweb_errors_total", kind=kind) == before + 1


async def test_a_run_is_active_until_it_is_over(runner: Runner, session: Session) -> None:
    before = ACTIVE_RUNS._value.get()
    run = await send(runner, session, "/slow")
    await watch(runner, session, run, until="text")
    assert ACTIVE_RUNS._value.get() == before + 1
    await runner.stop(session.pk, run)
    await runner.drain()
    assert ACTIVE_RUNS._value.get() == before
