"""The flow of a run, through the real client and the emulator, to the rows."""

import asyncio

import orjson
import pytest
from asgiref.sync import sync_to_async

from sessions_app.errors import (
    BadRequest,
    BrokenStream,
    CacheGone,
    GatewayError,
    ProviderDown,
    QuotaExceeded,
    Unreachable,
)
from sessions_app.models import CacheEntry, Exchange, RawChunk, Run, Session, Turn
from sessions_app.prompt.turns import TurnKind
from sessions_app.runs.retry_policy import RetryPolicy
from sessions_app.runs.runner import Runner
from tests.runs.conftest import Ask
from tests.runs.running import send, watch

FLIGHT = "Check flight status for AA100 and book a taxi 2 hours before if delayed."
WEATHER = "Check the weather in Paris and London."


async def history(session: Session) -> list[Turn]:
    await session.arefresh_from_db()
    return [
        turn
        async for turn in Turn.objects.filter(session=session).select_related("content").order_by("depth")
    ]


async def exchanges(session: Session) -> list[Exchange]:
    return [exchange async for exchange in Exchange.objects.filter(session=session)]


async def test_a_message_gets_an_answer_with_its_signature(ask: Ask, session: Session) -> None:
    run = await ask("Hello there")
    task, answer = await history(session)
    assert run.status == Run.Status.COMPLETED
    assert (task.kind, answer.kind) == (TurnKind.USER_TASK, TurnKind.MODEL_RESPONSE)
    assert answer.parts[-1].signature and answer.text


async def test_every_request_can_be_rebuilt_byte_for_byte(ask: Ask, session: Session) -> None:
    for text in ("Hello", FLIGHT, "And now?"):
        await ask(text)
    stored = [exchange async for exchange in Exchange.objects.filter(session=session)]
    assert len(stored) == 5
    assert {(exchange.dialect, exchange.sent_sha256) for exchange in stored} == {("gemini", "")}
    assert all([await sync_to_async(exchange.is_faithful)() for exchange in stored])


async def test_sequential_calls_play_as_in_seed_2(ask: Ask, session: Session) -> None:
    await ask(FLIGHT)
    kinds = [turn.kind for turn in await history(session)]
    calling, answering = TurnKind.FUNCTION_CALLING, TurnKind.TOOL_RESPONSE
    assert kinds == [TurnKind.USER_TASK, calling, answering, calling, answering, TurnKind.MODEL_RESPONSE]


async def test_each_sequential_step_brings_its_own_signature(ask: Ask, session: Session) -> None:
    await ask(FLIGHT)
    calls = [turn for turn in await history(session) if turn.kind == TurnKind.FUNCTION_CALLING]
    first, second = (part.signature for turn in calls for part in turn.parts if part.call)
    assert first and second and first != second


async def test_parallel_calls_are_answered_in_one_content_in_call_order(ask: Ask, session: Session) -> None:
    await ask(WEATHER)
    turns = await history(session)
    answers = [part.response for part in turns[2].parts]
    assert [answer["response"] for answer in answers if answer] == [{"temp": "15C"}, {"temp": "12C"}]
    assert len(turns) == 4


async def test_the_second_exchange_uses_the_cache_made_after_the_first(ask: Ask, session: Session) -> None:
    await ask("Hello")
    await ask("Hello again")
    first, second = await exchanges(session)
    assert (first.cache_action, second.cache_action) == ("create", "hit")
    assert (
        second.verdict == "hit" and second.cached_tokens and second.cache_name.startswith("cachedContents/")
    )


async def test_a_dead_cache_is_resent_inline_once_and_both_attempts_are_kept(
    ask: Ask, session: Session
) -> None:
    await ask("Hello")
    await CacheEntry.objects.aupdate(name="cachedContents/" + "x" * 40)
    run = await ask("Hello again")
    _, lost, resent = await exchanges(session)
    assert run.status == Run.Status.COMPLETED
    assert lost.error["kind"] == "CacheGone" and lost.verdict == "cache_lost"
    assert resent.resend_of_id == lost.pk and not resent.cache_name


async def test_raw_chunks_are_kept_as_they_arrived(ask: Ask, session: Session) -> None:
    await ask("Hello")
    bodies = [bytes(chunk.body) async for chunk in RawChunk.objects.order_by("seq")]
    assert len(bodies) > 1
    assert all("candidates" in orjson.loads(body) for body in bodies)


async def test_todos_are_written_by_the_run_and_seen_by_the_model(ask: Ask, session: Session) -> None:
    await ask("add a todo: buy milk")
    await ask("Hello")
    assert [todo.title async for todo in session.todos.all()] == ["buy milk"]
    last = (await exchanges(session))[-1]
    items = await sync_to_async(last.sent_items)()
    assert any(item.source.name == "panel:todos" and b"buy milk" in item.wire for item in items)


@pytest.mark.parametrize(
    ("marker", "kind"),
    [("/error 429", "QuotaExceeded"), ("/error 503", "ProviderDown"), ("/error 400", "BadRequest")],
)
async def test_an_error_of_the_provider_fails_the_run_with_its_kind(
    ask: Ask, session: Session, marker: str, kind: str
) -> None:
    run = await ask(marker)
    assert (run.status, run.error["kind"]) == (Run.Status.FAILED, kind)
    assert [turn.kind for turn in await history(session)] == [TurnKind.USER_TASK]


@pytest.mark.parametrize(
    ("marker", "outcome"),
    [("/empty", "empty"), ("/blocked", "blocked"), ("/safety", "safety"), ("/malformed", "malformed_call")],
)
async def test_a_reply_without_an_answer_has_an_outcome_and_no_turn(
    ask: Ask, session: Session, marker: str, outcome: str
) -> None:
    run = await ask(marker)
    assert (run.status, run.outcome) == (Run.Status.FAILED, outcome)
    assert (run.error["kind"], run.error["reason"]) == ("NoAnswer", run.outcome)
    assert not [
        turn for turn in await history(session) if turn.kind == TurnKind.MODEL_RESPONSE and not turn.cut
    ]


@pytest.mark.parametrize(
    ("marker", "status"), [("/maxtokens", "completed"), ("/nofinish", "failed"), ("/drop", "failed")]
)
async def test_a_cut_answer_keeps_its_text_and_says_that_it_is_cut(
    ask: Ask, session: Session, marker: str, status: str
) -> None:
    await Session.objects.filter(pk=session.pk).aupdate(settings={"continue_cut": False})
    run = await ask(marker)
    answer = (await history(session))[-1]
    assert run.status == status
    assert answer.kind == TurnKind.MODEL_RESPONSE and answer.cut and answer.text


async def test_the_conversation_continues_after_a_failure(ask: Ask, session: Session) -> None:
    await ask("/drop")
    run = await ask("Hello again")
    assert run.status == Run.Status.COMPLETED


async def test_calls_that_come_in_pieces_go_back_whole(ask: Ask, session: Session) -> None:
    run = await ask(f"{WEATHER} /partial")
    _, calling, answering, _ = await history(session)
    assert (run.status, run.error) == (Run.Status.COMPLETED, {})
    calls = [part for part in calling.parts if part.call]
    assert [part.call["args"] for part in calls if part.call] == [
        {"location": "Paris"},
        {"location": "London"},
    ]
    assert len(answering.parts) == 2 and calls[0].signature and not calls[1].signature
    bodies = [bytes(chunk.body) async for chunk in RawChunk.objects.all()]
    assert any(b"partialArgs" in body for body in bodies)


PER_DAY = {
    "error": {"details": [{"violations": [{"quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]}]}
}


@pytest.mark.parametrize("error", [ProviderDown("down"), Unreachable("away"), QuotaExceeded("slow down")])
def test_temporary_errors_are_retried(error: GatewayError) -> None:
    assert RetryPolicy().pause(error, 1, used_cache=False)


@pytest.mark.parametrize(
    "error", [BadRequest("no"), BrokenStream("garbled"), QuotaExceeded("day", details=PER_DAY)]
)
def test_permanent_errors_are_not_retried(error: GatewayError) -> None:
    assert RetryPolicy().pause(error, 1, used_cache=False) is None


def test_the_pauses_grow_and_end() -> None:
    retry_policy = RetryPolicy(tries=4, base=1)
    pauses = [
        retry_policy.pause(ProviderDown("down"), failures, used_cache=False) for failures in (1, 2, 3, 4)
    ]
    first, second, third = pauses[:3]
    assert first and second and third and 1 <= first < 2 <= second < 4 <= third <= 5
    assert pauses[3] is None


def test_the_providers_own_delay_is_honoured() -> None:
    assert RetryPolicy().pause(QuotaExceeded("wait", retry_after=21), 1, used_cache=False) == 21


def test_a_delay_that_is_too_long_is_left_to_the_person() -> None:
    assert RetryPolicy(longest=60).pause(QuotaExceeded("wait", retry_after=3600), 1, used_cache=False) is None


def test_a_dead_cache_is_sent_again_at_once_but_only_when_it_was_named() -> None:
    assert RetryPolicy().pause(CacheGone("gone"), 1, used_cache=True) == 0
    assert RetryPolicy().pause(CacheGone("gone"), 1, used_cache=False) is None


async def test_an_overload_is_retried_and_both_attempts_are_kept(runner: Runner, session: Session) -> None:
    events = await watch(runner, session, await send(runner, session, "/error 503 once"))
    waits = [event["wait"] for event in events if event["type"] == "status"]
    first, second = [exchange async for exchange in Exchange.objects.order_by("number")]
    assert events[-1]["status"] == "completed" and len(waits) == 2 and waits[1] == 0
    assert first.error["kind"] == "ProviderDown" and second.resend_of_id == first.pk


async def test_stop_ends_the_waiting(runner: Runner, session: Session) -> None:
    # The emulator's 429 asks for two seconds, more than this runner is willing to wait; 503 has no delay.
    runner._engines.current()._retry_policy = RetryPolicy(base=30)
    run = await send(runner, session, "/error 503")
    await watch(runner, session, run, until="status")
    async with asyncio.timeout(20):
        await runner.stop(session.pk, run)
        await runner.drain()
    assert (await Run.objects.aget()).status == Run.Status.STOPPED


async def test_a_break_after_the_first_token_is_not_answered_twice(ask: Ask, session: Session) -> None:
    run = await ask("/drop")
    assert run.status == Run.Status.FAILED and await Exchange.objects.acount() == 1
