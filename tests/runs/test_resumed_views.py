"""Rounds without an answer, and resumed runs, on the page and in files."""

import uuid

from asgiref.sync import sync_to_async
from django.contrib.auth.models import User

from sessions_app.chat.transcript import RunView, Transcript, view_run
from sessions_app.chat.transfer import export_session
from sessions_app.models import Run, Session, Todo, Turn
from sessions_app.models.branches import head_of
from sessions_app.runs.history_edits import fork_session
from sessions_app.runs.start import start_resume
from tests.chat.importing import import_session
from tests.runs.rounds import Played

MILK = [[("add_todo", "buy milk")]]


def shown(session: Session) -> list[RunView]:
    return list(Transcript.ending_at(head_of(session.pk)).runs)


async def failed(played: Played, fault: str = "400") -> Run:
    played.provider.rounds, played.provider.fault, played.provider.fault_from = MILK, fault, 1
    run = await played.send("add it")
    played.provider.fault = ""
    return run


async def test_the_failed_run_offers_to_go_on_from_its_tool_responses(played: Played) -> None:
    await failed(played)
    (view,) = await sync_to_async(shown)(played.session)
    assert view.resumption and view.resumption.turn == (await played.branch())[2]
    assert not view.resumption.unknown and view.answer is None and view.last_turn == view.resumption.turn


async def test_of_a_cut_answer_the_run_can_be_resumed_too(played: Played) -> None:
    await failed(played, "cut")
    (view,) = await sync_to_async(shown)(played.session)
    assert view.answer and view.answer.cut and view.resumption
    assert (await played.resume()).status == Run.Status.COMPLETED
    (view,) = await sync_to_async(shown)(played.session)
    assert view.resumption is None and view.answer and not view.answer.cut
    assert view.steps[-1].choice and view.steps[-1].choice.count == 2


async def test_a_resumed_answer_is_one_answer_with_the_exchanges_of_both_runs(played: Played) -> None:
    await failed(played)
    run = await played.resume()
    (view,) = await sync_to_async(shown)(played.session)
    assert view.run == run and len(view.steps) == 2 and [one.number for one in view.exchanges] == [1, 2, 3]
    row = await Run.objects.select_related("trigger").aget(pk=run.pk)
    assert await sync_to_async(view_run)(played.session, row) == view
    assert view.ending is None and view.task and view.task.text == "add it"


async def test_while_a_resumed_run_is_active_the_page_shows_what_stood_there_before(played: Played) -> None:
    await failed(played)
    responses = (await played.branch())[2]
    start = sync_to_async(start_resume)
    active = await start(played.session.pk, uuid.uuid4(), responses.public, "elsewhere")
    (view,) = await sync_to_async(shown)(played.session)
    assert view.run == active and view.is_active
    assert [card.name for step in view.steps for card in step.cards] == ["add_todo"]


async def test_an_unknown_call_says_so_on_its_card_and_in_the_offer(played: Played) -> None:
    played.provider.rounds = [[("mark", "a"), ("add_todo", "b")]]
    played.saboteur.place, played.saboteur.count = "ran", 0
    await played.send("go")
    (view,) = await sync_to_async(shown)(played.session)
    states = {card.name: card.state for card in view.steps[0].cards}
    assert "unknown whether it ran" in states.values() and view.resumption and view.resumption.unknown


async def test_a_closing_turn_is_no_answer(played: Played) -> None:
    await failed(played)
    played.provider.rounds = ()
    await played.send("never mind")
    first, second = await sync_to_async(shown)(played.session)
    assert first.steps[-1].turn.closing and first.answer is None and first.resumption is None
    assert first.markdown == "" and first.ending and second.answer


async def test_a_closing_turn_after_a_resumed_run_that_failed_shows_the_last_failure(played: Played) -> None:
    await failed(played)
    played.provider.fault = "503"
    again = await played.resume()
    played.provider.fault, played.provider.rounds = "", ()
    await played.send("never mind")
    first, _ = await sync_to_async(shown)(played.session)
    assert first.run == again and first.ending and first.run.error["kind"] == "ProviderDown"


async def test_forks_and_imports_keep_the_closing_turn_and_can_be_resumed(
    played: Played, alice: User
) -> None:
    await failed(played)
    head = (await played.branch())[-1]
    fork = await sync_to_async(fork_session)(played.session.pk, head.public)
    original = played.session
    assert await resumed(played, fork) == ["buy milk"]
    played.session, played.provider.rounds = original, ()
    await played.send("never mind")
    copy = await sync_to_async(lambda: import_session(alice, export_session(original)))()
    assert await Turn.objects.filter(session=copy, closing=True).acount() == 1


async def resumed(played: Played, session: Session) -> list[str]:
    played.session = session
    assert (await played.resume()).status == Run.Status.COMPLETED
    return [todo.title async for todo in Todo.objects.filter(session=session)]
