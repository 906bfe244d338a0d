"""Which model a run asks: the one with which it began."""

import uuid

import pytest

from sessions_app.errors import RunError
from sessions_app.models import CacheEntry, Exchange, Run, Session, Turn
from sessions_app.runs.runner import Runner
from tests.runs.conftest import Ask
from tests.runs.rounds import Played

OTHER = "gemini-3.6-flash"


async def asked(session: Session) -> list[str]:
    exchanges = Exchange.objects.filter(session=session).order_by("number")
    return [one.model async for one in exchanges]


async def again(runner: Runner, session: Session, earlier: Run, model: str) -> Run:
    client_id = uuid.uuid4()
    await runner.retry(session.pk, client_id, earlier.public, None, model)
    await runner.drain()
    return await Run.objects.select_related("trigger").aget(client_id=client_id)


async def test_an_answer_by_another_model_is_a_sibling_and_the_chat_keeps_its_model(
    runner: Runner, ask: Ask, session: Session
) -> None:
    first = await ask("hello")
    second = await again(runner, session, first, OTHER)
    assert second.trigger_id == first.trigger_id and second.status == Run.Status.COMPLETED
    siblings = Turn.objects.filter(parent=first.trigger_id)
    assert {turn.run_id async for turn in siblings} == {first.pk, second.pk}
    await ask("and now?")
    assert await asked(session) == [session.model, OTHER, session.model]
    await session.arefresh_from_db()
    assert session.model != OTHER


async def test_a_model_that_is_not_known_is_refused_and_nothing_begins(
    runner: Runner, ask: Ask, session: Session
) -> None:
    first = await ask("hello")
    with pytest.raises(RunError):
        await again(runner, session, first, "gpt-9")
    assert await Run.objects.acount() == 1


async def test_a_run_keeps_its_model_and_level_when_another_is_chosen_in_the_midst_of_it(
    played: Played,
) -> None:
    session = played.session
    await Session.objects.filter(pk=session.pk).aupdate(settings={"thinking_level": "LOW"})
    played.provider.rounds = ([("look", "a")],)
    played.saboteur.place = "answer"
    played.saboteur.stop = lambda: Session.objects.get(pk=session.pk).choose_model(OTHER, "HIGH")
    await played.send("look")
    assert await asked(session) == [session.model, session.model]
    await played.send("again")
    assert (await asked(session))[2:] == [OTHER, OTHER]
    levels = [one["generationConfig"]["thinkingConfig"]["thinkingLevel"] for one in played.provider.requests]
    assert levels == ["LOW", "LOW", "HIGH", "HIGH"]


async def test_what_goes_on_by_itself_goes_on_with_the_same_model(
    runner: Runner, ask: Ask, session: Session
) -> None:
    first = await ask("/maxtokens")
    await again(runner, session, first, OTHER)
    assert await asked(session) == [session.model, session.model, OTHER, OTHER]


async def test_an_answer_by_another_model_makes_no_cache_and_leaves_that_of_the_chat(
    runner: Runner, ask: Ask, session: Session
) -> None:
    long, settings = "You keep lists for people. " * 500, {"cache_mode": "explicit", "tools": []}
    await Session.objects.filter(pk=session.pk).aupdate(background=long, settings=settings)
    first = await ask("hello")
    made = await CacheEntry.objects.aget()
    other = await again(runner, session, first, OTHER)
    exchange = await Exchange.objects.aget(run=other)
    assert (exchange.cache_action, exchange.plan_figures["reason"]) == ("none", "waived")
    assert await CacheEntry.objects.acount() == 1
    later = await ask("and now?")
    assert (await Exchange.objects.aget(run=later)).cache_name == made.name
