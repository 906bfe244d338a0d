"""A provider that refuses thought signatures gets the request again without them, then and later."""

import random
import uuid
from collections.abc import AsyncIterator
from dataclasses import replace
from itertools import groupby

import pytest
from asgiref.sync import sync_to_async

from sessions_app.emulator.scenarios import play
from sessions_app.gemini.gateway import Gateway
from sessions_app.gemini.openai_gateway import OpenAIGateway
from sessions_app.models import Exchange, Run, Session, Turn
from sessions_app.prompt.turns import Turn as TurnValue
from sessions_app.prompt.turns import TurnKind
from sessions_app.runs.history_edits import delete_turns, fork_session
from sessions_app.runs.retry_policy import RetryPolicy
from sessions_app.runs.runner import Runner
from tests.runs.random_history import random_history
from tests.runs.refusing import DUMMY, KIN, RefusingTransport, check_rules, signatures_of
from tests.runs.running import running, watch

FLIGHT = "Check flight status for AA100 and book a taxi 2 hours before if delayed."
WEATHER = "Check the weather in Paris and London."
MISSING = "Function call is missing a thought_signature in functionCall parts."


@pytest.fixture
def provider() -> RefusingTransport:
    return RefusingTransport()


@pytest.fixture(params=[Gateway, OpenAIGateway], ids=["gemini", "openai"])
async def runner(
    request: pytest.FixtureRequest, session: Session, provider: RefusingTransport
) -> AsyncIterator[Runner]:
    async with running(request.param.to_emulator(provider)) as runner:
        yield runner


async def ask(runner: Runner, session: Session, message: str) -> Run:
    client_id = uuid.uuid4()
    await runner.send(session.pk, client_id, message)
    await runner.drain()
    return await Run.objects.aget(client_id=client_id)


async def exchanges(session: Session) -> list[Exchange]:
    return [one async for one in Exchange.objects.filter(session=session).select_related("resend_of")]


async def learn(runner: Runner, session: Session, provider: RefusingTransport) -> None:
    """Two answers, whose signatures the provider then forgets."""
    await ask(runner, session, "Hello")
    await ask(runner, session, "Hello again")
    turns = Turn.objects.filter(session=session).select_related("content")
    async for turn in turns:
        provider.seen |= {part.signature for part in turn.parts if part.signature}
    provider.forget()
    provider.requests.clear()


async def test_the_message_is_sent_again_without_the_signatures(
    runner: Runner, session: Session, provider: RefusingTransport
) -> None:
    await learn(runner, session, provider)
    run = await ask(runner, session, "And now?")
    assert run.status == Run.Status.COMPLETED
    assert [(len(one.signatures), one.status) for one in provider.requests] == [(2, 400), (0, 200)]
    *_, refused, resent = await exchanges(session)
    assert refused.error["kind"] == "SignatureRefused" and refused.outcome == ""
    assert resent.resend_of == refused and not resent.error
    assert all([await sync_to_async(one.is_faithful)() for one in (refused, resent)])


async def test_the_next_message_costs_no_failed_request_and_new_answers_keep_theirs(
    runner: Runner, session: Session, provider: RefusingTransport
) -> None:
    await learn(runner, session, provider)
    await ask(runner, session, "And now?")
    await ask(runner, session, "And then?")
    (last,) = provider.requests[2:]
    assert last.status == 200 and len(last.signatures) == 1 and not last.signatures & provider.refused


@pytest.mark.parametrize("message", KIN)
@pytest.mark.parametrize("before", [b"", b'data: {"usageMetadata":{"promptTokenCount":7}}\r\n\r\n'])
async def test_a_refusal_inside_the_stream_is_one_too(
    session: Session, provider: RefusingTransport, message: str, before: bytes
) -> None:
    async with running(Gateway.to_emulator(provider)) as runner:
        await learn(runner, session, provider)
        provider.in_stream, provider.before, provider.message = True, before, message
        run = await ask(runner, session, "And now?")
    assert run.status == Run.Status.COMPLETED
    assert [one.status for one in provider.requests] == [400, 200]


async def test_in_a_tool_loop_the_calls_of_the_current_turn_get_the_dummy(
    runner: Runner, session: Session, provider: RefusingTransport
) -> None:
    provider.refuses_all = True
    run = await ask(runner, session, FLIGHT)
    assert run.status == Run.Status.COMPLETED
    assert [one.status for one in provider.requests] == [200, 400, 200, 400, 200]
    dummies = [[*signatures_of(one.body)] for one in provider.requests if one.status == 200]
    assert dummies == [[], [DUMMY], [DUMMY, DUMMY]]


async def test_a_second_refusal_ends_the_run_with_what_to_do(
    runner: Runner, session: Session, provider: RefusingTransport
) -> None:
    provider.is_strict = True
    run = await ask(runner, session, WEATHER)
    assert (run.status, run.error["kind"]) == (Run.Status.FAILED, "SignatureRefused")
    assert "another model" in run.error["hint"]
    assert [one.status for one in provider.requests] == [200, 400, 400]


async def test_a_refusal_is_no_failed_attempt(session: Session, provider: RefusingTransport) -> None:
    policy = RetryPolicy(tries=3, base=0.01, longest=1)
    async with running(Gateway.to_emulator(provider), policy) as runner:
        await learn(runner, session, provider)
        provider.then = [503, 503]
        run = await ask(runner, session, "And now?")
    assert run.status == Run.Status.COMPLETED
    assert [one.status for one in provider.requests] == [400, 503, 503, 200]


async def test_the_resent_request_names_the_same_cache(session: Session, provider: RefusingTransport) -> None:
    async with running(Gateway.to_emulator(provider)) as runner:
        await learn(runner, session, provider)
        await ask(runner, session, "And now?")
    *_, refused, resent = await exchanges(session)
    assert refused.cache_name and refused.cache_name == resent.cache_name
    assert resent.cached_tokens


async def test_the_viewer_is_told(runner: Runner, session: Session, provider: RefusingTransport) -> None:
    await learn(runner, session, provider)
    run = await ask(runner, session, "And now?")
    events = await watch(runner, session, run.public)
    assert any("refused the thoughts" in event.get("text", "") for event in events)


async def test_copies_of_refused_turns_are_refused_whoever_was_copied_first(
    session: Session, provider: RefusingTransport
) -> None:
    async with running(Gateway.to_emulator(provider)) as runner:
        await learn(runner, session, provider)
        tasks = [turn async for turn in session.turns.filter(kind=TurnKind.USER_TASK).order_by("depth")]
        answers = [turn async for turn in session.turns.filter(kind=TurnKind.MODEL_RESPONSE)]
        early = await sync_to_async(fork_session)(session.pk, answers[-1].public)
        await sync_to_async(delete_turns)(session.pk, [tasks[0].public])
        await ask(runner, session, "And now?")
        late = await sync_to_async(fork_session)(session.pk, answers[-1].public)
        provider.requests.clear()
        for other in (early, late):
            await ask(runner, other, "And now?")
    assert [(len(one.signatures), one.status) for one in provider.requests] == [(0, 200), (0, 200)]
    places = {turn.refused_in async for turn in Turn.objects.filter(session__in=[early, late], exchange=None)}
    assert places == {None, 0}


async def test_a_call_that_the_provider_misses_a_signature_of_gets_the_dummy(session: Session) -> None:
    """A model that demands what the table says it does not, and does not sign its calls."""
    provider = RefusingTransport(play=lambda context: replace(play(context), signed=False))
    provider.message, provider.demands_all = MISSING, True
    await Session.objects.filter(pk=session.pk).aupdate(model="gemini-2.5-flash")
    async with running(Gateway.to_emulator(provider)) as runner:
        run = await ask(runner, session, WEATHER)
    assert run.status == Run.Status.COMPLETED
    assert [one.status for one in provider.requests] == [200, 400, 200]
    assert [*signatures_of(provider.requests[-1].body)] == [DUMMY]


def add_turns(session: Session, turns: list[TurnValue]) -> None:
    session.refresh_from_db()
    for turn in turns:
        Turn.append(session, turn, parent=session.head)


@pytest.mark.parametrize("seed", range(16))
async def test_random_histories_are_answered_in_two_requests_a_step(
    session: Session, provider: RefusingTransport, seed: int
) -> None:
    chance = random.Random(seed)
    async with running(Gateway.to_emulator(provider)) as runner:
        await ask(runner, session, "Hello")
        first = await Turn.objects.aget(session=session, kind=TurnKind.MODEL_RESPONSE)
        await sync_to_async(add_turns)(session, random_history(chance, first.route))
        for message in (WEATHER, FLIGHT, "Thanks."):
            if chance.random() < 0.7:
                provider.forget()
                provider.refused |= await own_signatures(session)
            provider.message = chance.choice(KIN)
            run = await ask(runner, session, message)
            assert run.status == Run.Status.COMPLETED, run.error
    refused: set[bytes] = set()
    for _, steps in groupby(await exchanges(session), lambda one: (one.run_id, one.step)):
        assert len(list(steps)) <= 2
    for sent in provider.requests:
        assert not sent.signatures & refused, "a signature was sent again after it had been refused"
        refused |= sent.signatures if sent.is_refused else set()
        if not sent.is_refused:
            check_rules(sent.body)
    assert not refused or provider.requests[-1].status == 200


async def own_signatures(session: Session) -> set[bytes]:
    turns = Turn.objects.filter(session=session).select_related("content")
    return {part.signature async for turn in turns for part in turn.parts if part.signature} - {DUMMY}


async def test_a_refused_turn_stays_refused_after_other_routes(session: Session) -> None:
    """Back on its route, the turn goes without its signature."""
    provider = RefusingTransport()
    async with running(Gateway.to_emulator(provider)) as runner:
        await learn(runner, session, provider)
        await ask(runner, session, "And now?")
        await Session.objects.filter(pk=session.pk).aupdate(model="gemini-2.5-flash")
        await ask(runner, session, "Elsewhere?")
        await Session.objects.filter(pk=session.pk).aupdate(model="gemini-3-flash-preview")
        await ask(runner, session, "And back?")
    assert [one.status for one in provider.requests].count(400) == 1
