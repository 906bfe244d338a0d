"""The continue rules as a decision, and what they do to a session."""

import uuid
from dataclasses import replace
from typing import Any

import orjson
import pytest
from asgiref.sync import sync_to_async
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.error_codes import RefusalCode
from sessions_app.errors import LimitReached
from sessions_app.models import Exchange, ModelFacts, Notification, QueuedMessage, Run, Session, Todo, Turn
from sessions_app.prompt.turns import TurnKind
from sessions_app.runs.continuation import (
    CUT_TEXT,
    REQUESTS,
    ContinuationState,
    Continue,
    End,
    decide,
    todo_text,
)
from sessions_app.runs.runner import Runner
from tests.runs.conftest import Ask
from tests.runs.running import running_held, send, watch

LIMIT = LimitReached(RefusalCode.MAX_USD, spent=2.0, limit=1.0)
CUT = ContinuationState("cut")
TODOS = ContinuationState("answered", continue_todos=True, open_todos=("Book a taxi",))

states = st.builds(
    ContinuationState,
    ended=st.sampled_from(["answered", "cut", "stopped", "failed", "interrupted"]),
    waiting=st.integers(0, 2),
    continue_cut=st.booleans(),
    continue_todos=st.booleans(),
    open_todos=st.sampled_from([(), ("one",), ("one", "two")]),
    continuations=st.integers(0, 7),
    max_continuations=st.none() | st.integers(0, 5),
    limit=st.sampled_from([None, LIMIT]),
)


@pytest.mark.parametrize(
    ("state", "rule"),
    [
        (ContinuationState("answered", waiting=1), "message"),
        (CUT, "cut"),
        (TODOS, "todos"),
        (replace(TODOS, ended="cut"), "cut"),
        (replace(CUT, waiting=2), "message"),
    ],
)
def test_the_first_rule_that_applies_decides(state: ContinuationState, rule: str) -> None:
    decision = decide(state)
    assert isinstance(decision, Continue) and decision.rule == rule


@pytest.mark.parametrize(
    "state",
    [
        ContinuationState("answered"),
        replace(CUT, continue_cut=False),
        replace(TODOS, continue_todos=False),
        replace(TODOS, open_todos=()),
    ],
)
def test_without_a_rule_the_session_waits_for_a_person(state: ContinuationState) -> None:
    decision = decide(state)
    assert isinstance(decision, End) and decision.blocked is None


@given(states)
def test_a_run_without_an_answer_is_never_followed(state: ContinuationState) -> None:
    if state.ended in ("stopped", "failed", "interrupted"):
        assert isinstance(decide(state), End)


@given(states)
def test_no_continuation_beyond_a_limit_or_the_most_continuations(state: ContinuationState) -> None:
    decision = decide(state)
    if isinstance(decision, Continue) and decision.rule != "message":
        most = state.max_continuations
        assert state.limit is None and (most is None or state.continuations < most)


def test_without_a_limit_it_goes_on_however_often_it_has() -> None:
    assert isinstance(decide(replace(CUT, max_continuations=None, continuations=10_000)), Continue)


@given(states)
def test_a_limit_does_not_block_a_queued_message(state: ContinuationState) -> None:
    if state.waiting and state.ended in ("answered", "cut"):
        assert isinstance(decide(state), Continue)


async def runs_of(session: Session) -> list[Run]:
    return [run async for run in Run.objects.filter(session=session).select_related("trigger").order_by("pk")]


async def settings_are(session: Session, **settings: object) -> None:
    await Session.objects.filter(pk=session.pk).aupdate(settings=settings)


async def continue_records(run: Run) -> list[dict[str, Any]]:
    last = await Exchange.objects.filter(run=run).order_by("-number").afirst()
    return [record for record in last.stages if record["name"] == "continue"] if last else []


async def test_a_cut_answer_is_continued_with_a_marked_turn(ask: Ask, session: Session) -> None:
    first = await ask("/maxtokens")
    _, second = await runs_of(session)
    assert (second.continuations, second.status) == (1, Run.Status.COMPLETED)
    assert second.trigger is not None
    assert second.trigger.text.startswith(
        "Written by Pipeweb, not by a person (continuation 1 of at most 5)."
    )
    assert "[N1] answer cut — " in second.trigger.text
    (record,) = await continue_records(first)
    assert (record["status"], record["figures"]["case"]) == ("ok", "cut")
    assert (record["figures"]["continuation"], record["figures"]["most"]) == (1, 5)


async def test_the_model_sees_the_notification_once(ask: Ask, session: Session) -> None:
    await ask("/maxtokens")
    seen = await Notification.objects.aget(session=session)
    assert (seen.kind, seen.status) == ("max_tokens_truncated", "seen")
    exchange = await Exchange.objects.filter(session=session).alast()
    assert exchange is not None
    (marked,) = (stage for stage in exchange.stages if stage["name"] == "mark_notifications")
    assert marked["remarks"] == [seen.remark.stored()]


def sent_states(exchange: Exchange) -> list[tuple[str, str]]:
    """State and text of the notifications in the request."""
    parts = orjson.loads(exchange.request_body())["contents"][0]["parts"]
    found = orjson.loads(parts[-1]["text"]).get("notifications", ())
    return [(one["state"], one["text"]) for one in found]


async def test_a_notification_is_open_once_and_asks_only_in_the_turn_that_goes_on(
    ask: Ask, session: Session
) -> None:
    await ask("/maxtokens")
    await ask("Hello")
    cut, following, later = [one async for one in Exchange.objects.filter(session=session).order_by("pk")]
    assert await sync_to_async(sent_states)(cut) == []
    assert await sync_to_async(sent_states)(following) == [("open", CUT_TEXT)]
    assert await sync_to_async(sent_states)(later) == [("seen", CUT_TEXT)]
    _, second, _ = await runs_of(session)
    assert second.trigger is not None and second.trigger.text.endswith(REQUESTS["cut"])
    assert REQUESTS["cut"] not in CUT_TEXT


@pytest.mark.parametrize("count", [1, 2, 30])
def test_open_todos_are_counted_and_listed(count: int) -> None:
    lead, *lines = todo_text([f"todo {number}" for number in range(count)]).splitlines()
    assert lead == ("1 todo is not done:" if count == 1 else f"{count} todos are not done:")
    assert len(lines) == min(count, 21)


async def test_a_cut_answer_waits_where_the_person_said_so(ask: Ask, session: Session) -> None:
    await settings_are(session, continue_cut=False)
    run = await ask("/maxtokens")
    assert len(await runs_of(session)) == 1
    (record,) = await continue_records(run)
    assert record["status"] == "nothing"


async def test_it_does_not_go_on_without_end(ask: Ask, session: Session) -> None:
    """The todo is never done, so only the limit ends it."""
    await Todo.objects.acreate(session=session, position=1, title="Wait for spring")
    await settings_are(session, continue_todos=True, max_continuations=2)
    await ask("Hello")
    runs = await runs_of(session)
    assert [run.continuations for run in runs] == [0, 1, 2]
    kinds = [(note.kind, note.status) async for note in Notification.objects.filter(session=session)]
    assert kinds == [
        ("todo_incomplete", "seen"),
        ("todo_incomplete", "seen"),
        ("todo_incomplete", "blocked"),
        ("guard_rail", "unseen"),
    ]
    (record,) = await continue_records(runs[-1])
    assert record["status"] == "blocked"


async def test_a_message_of_a_person_resets_the_counter(ask: Ask, session: Session) -> None:
    await ask("/maxtokens")
    run = await ask("Thank you")
    assert run.continuations == 0


async def test_a_model_that_only_thinks_is_not_asked_again(ask: Ask, session: Session) -> None:
    """The whole output limit went into thoughts: asking again would spend it again."""
    run = await ask("/noparts")
    assert run.status == Run.Status.FAILED and len(await runs_of(session)) == 1
    (record,) = await continue_records(run)
    assert record["figures"]["case"] == "failed"


async def test_a_stop_wins_over_queued_messages(runner: Runner, session: Session) -> None:
    run = await send(runner, session, "/slow")
    await watch(runner, session, run, until="text")
    await runner.send(session.pk, uuid.uuid4(), "And then?")
    await runner.stop(session.pk, run)
    await runner.drain()
    assert await QueuedMessage.objects.acount() == 1
    (record,) = await continue_records(await Run.objects.aget())
    assert record["figures"]["case"] == "stopped"


async def test_a_message_that_waits_is_noted_and_seen_when_it_is_answered(session: Session) -> None:
    waiting = uuid.uuid4()
    async with running_held() as (runner, released):
        await send(runner, session, "Hello")
        await runner.send(session.pk, waiting, "And now? " * 20)
        noted = await Notification.objects.aget(session=session)
        assert (noted.kind, noted.status, len(noted.text)) == ("user_message", "unseen", 80)
        released.set()
        await runner.drain()
    await noted.arefresh_from_db()
    run = await Run.objects.aget(client_id=waiting)
    assert run.status == Run.Status.COMPLETED and noted.status == "seen"


async def test_a_withdrawn_message_takes_its_notification_along(session: Session) -> None:
    waiting = uuid.uuid4()
    async with running_held() as (runner, released):
        await send(runner, session, "Hello")
        await runner.send(session.pk, waiting, "Never mind")
        await runner.withdraw(session.pk, waiting)
        released.set()
        await runner.drain()
    assert not await Notification.objects.aexists()


async def test_a_run_that_the_server_left_is_noted(runner: Runner, session: Session) -> None:
    run = await send(runner, session, "/slow")
    await watch(runner, session, run, until="text")
    await runner.shutdown()
    assert (await Notification.objects.aget(session=session)).kind == "reload_resume"


async def test_nobody_goes_on_from_another_branch(ask: Ask, session: Session) -> None:
    """The head moved while the run ended: the continuation would answer what nobody looks at."""
    from sessions_app.runs.start import start_continuation

    first = await ask("Hello")
    await ask("Something else")
    assert await sync_to_async(start_continuation)(first, "Go on.", "process") is None
    assert await Turn.objects.filter(kind=TurnKind.USER_TASK).acount() == 2


async def test_todos_and_messages_of_other_sessions_count_for_nothing(ask: Ask, session: Session) -> None:
    other = await Session.objects.acreate(owner_id=session.owner_id)
    await Todo.objects.acreate(session=other, title="Book a taxi", position=1)
    await QueuedMessage.objects.acreate(session=other, client_id=uuid.uuid4(), text="Later")
    await settings_are(session, continue_todos=True)
    for text in ("Hello", "Hello /error 400"):
        (record,) = await continue_records(await ask(text))
        assert (record["figures"]["waiting"], record["figures"]["todos"]) == (0, 0)
    assert await Run.objects.acount() == 2


async def test_a_notification_when_the_window_crosses_the_threshold(ask: Ask, session: Session) -> None:
    await ModelFacts.objects.acreate(model=session.model, input_limit=50)
    for _ in range(2):
        await ask("Hello")
    (noted,) = [note async for note in Notification.objects.filter(session=session)]
    assert noted.kind == "context_threshold" and "of 50 tokens" in noted.text
    await ModelFacts.objects.all().adelete()
