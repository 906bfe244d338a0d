"""Every fault of gemini-wire §3 that the emulator can play: what is stored, what is seen, and that
Retry answers once the fault is gone."""

import uuid
from collections.abc import AsyncIterator
from dataclasses import dataclass

import httpx2
import orjson
import pytest
from asgiref.sync import sync_to_async

from sessions_app.chat.run_ending import Ending
from sessions_app.exchange_sums import is_cut_off
from sessions_app.gemini.gateway import Gateway
from sessions_app.models import Booking, Exchange, RawChunk, Run, Session, Turn
from sessions_app.prompt.turns import TurnKind
from sessions_app.runs.retry_policy import RetryPolicy
from sessions_app.runs.runner import Runner
from sessions_app.wording import endings
from tests.audit.money import audited
from tests.runs.conftest import Ask
from tests.runs.running import Provider, TroubledTransport, running, send

SAID = "Hello there"
TRIES = 2
"""Requests before a run gives up on what may pass."""


@dataclass(frozen=True, slots=True)
class Row:
    """A fault of the emulator, and a failed run's traces.

    `kind` is the error's, `words` stand in what the person reads. `requests` were made, the last
    brought `chunks`; `keeps` is whether text of a cut answer stays.
    """

    fault: str
    kind: str
    words: str
    outcome: str = ""
    requests: int = 1
    chunks: int = 0
    keeps: bool = False


FAILURES = (
    Row("drop", "Unreachable", "connection to the provider broke.", chunks=2, keeps=True),
    Row("close", "Unreachable", "connection to the provider broke.", chunks=2, keeps=True),
    Row("stall 9", "Unreachable", "did not answer in time", chunks=2, keeps=True),
    Row("hangup", "Unreachable", "connection to the provider broke.", requests=TRIES),
    Row("error 503", "ProviderDown", "high demand", requests=TRIES),
    Row("error 500", "ProviderDown", "internal error", requests=TRIES),
    Row("proxy", "ProviderDown", "502 Bad Gateway", requests=TRIES),
    Row("wire first", "ProviderDown", "high demand", requests=TRIES),
    Row("wire failing", "ProviderDown", "internal error", chunks=2, keeps=True),
    Row("wire bare", "ProviderDown", "high demand", chunks=2, keeps=True),
    Row("error 429", "QuotaExceeded", "exceeded your current quota"),
    Row("error 400", "BadRequest", "invalid argument"),
    Row("error 403", "BadKey", "API Key"),
    Row("error 412", "BadRequest", "location is not supported"),
    Row("wire torn", "BrokenStream", "not JSON", chunks=12, keeps=True),
    Row("wire joined", "BrokenStream", "not JSON"),
    Row("wire silent", "NoAnswer", "answered with nothing", "empty"),
    Row("empty", "NoAnswer", "answered with nothing", "empty", chunks=1),
    Row("noparts", "NoAnswer", "answered with nothing", "empty", chunks=1),
    Row("nofinish", "NoAnswer", "ended before the model said", "unfinished", chunks=12, keeps=True),
    Row("blocked", "NoAnswer", "refused the request", "blocked", chunks=1),
    Row("safety", "NoAnswer", "safety rule", "safety", chunks=5, keeps=True),
    Row("malformed", "NoAnswer", "wrote the call wrongly", "malformed_call", chunks=1),
)
HARMLESS = ("array", "comment", "named", "tight", "done", "feeds", "bytes")
"""Framings on which the SDK's own reader breaks or stays silent, and ours does not."""

each_failure = pytest.mark.parametrize("row", FAILURES, ids=lambda row: row.fault)


@pytest.fixture
def transport(monkeypatch: pytest.MonkeyPatch) -> TroubledTransport:
    monkeypatch.setattr("sessions_app.gemini.sdk.TIMEOUT", httpx2.Timeout(5, read=0.15))
    return TroubledTransport()


@pytest.fixture
async def runner(session: Session, transport: TroubledTransport) -> AsyncIterator[Runner]:
    retry_policy = RetryPolicy(tries=TRIES, base=0.01, longest=1)
    async with running(Gateway.to_emulator(transport), retry_policy) as runner:
        yield runner


async def exchanges(run: Run) -> list[Exchange]:
    return [exchange async for exchange in Exchange.objects.filter(run=run)]


async def answers() -> list[Turn]:
    said = Turn.objects.filter(kind=TurnKind.MODEL_RESPONSE).select_related("content")
    return [turn async for turn in said.order_by("pk")]


async def retried(runner: Runner, run: Run) -> Run:
    client_id = uuid.uuid4()
    await runner.retry(run.session_id, client_id, run.public)
    await runner.drain()
    return await Run.objects.select_related("trigger").aget(client_id=client_id)


@each_failure
async def test_what_arrived_is_stored_and_the_run_says_how_it_failed(
    ask: Ask, transport: TroubledTransport, row: Row
) -> None:
    transport.fault = row.fault
    run = await ask(SAID)
    made = await exchanges(run)
    assert (run.status, run.error["kind"], run.outcome) == (Run.Status.FAILED, row.kind, row.outcome)
    assert len(made) == row.requests and not any(exchange.is_open for exchange in made)
    assert await RawChunk.objects.filter(exchange=made[-1]).acount() == row.chunks
    assert [bool(answer.cut and answer.text) for answer in await answers()] == [True] * row.keeps


@each_failure
async def test_the_person_reads_what_happened_and_what_to_do(
    ask: Ask, transport: TroubledTransport, row: Row
) -> None:
    transport.fault = row.fault
    run = await ask(SAID)
    made = await exchanges(run)
    ending = Ending.of(run, made)
    assert ending and ending.kind == "error"
    assert row.words in f"{ending.title} {ending.detail}" and ending.hint
    assert (ending.cost != endings.COSTS["uncharged"]) == any(exchange.prompt_tokens for exchange in made)


@each_failure
async def test_what_an_answer_without_an_end_cost_is_a_lower_bound(
    ask: Ask, transport: TroubledTransport, row: Row
) -> None:
    transport.fault = row.fault
    last = (await exchanges(await ask(SAID)))[-1]
    chunks = [bytes(chunk.body) async for chunk in RawChunk.objects.filter(exchange=last)]
    has_end = any(b'"finishReason"' in chunk or b'"blockReason"' in chunk for chunk in chunks)
    assert is_cut_off(last) == bool(last.money.get("at_least")) == (bool(chunks) and not has_end)


@pytest.mark.parametrize("finish", ["", "STOP"])
async def test_an_answer_of_counts_alone_is_a_lower_bound_unless_it_has_an_end(
    session: Session, finish: str
) -> None:
    provider = Provider()
    counted = {"usageMetadata": {"promptTokenCount": 100, "totalTokenCount": 100}}
    provider.last = orjson.dumps(counted | ({"candidates": [{"finishReason": finish}]} if finish else {}))
    async with running(Gateway(api_key="test", transport=provider)) as runner:
        await send(runner, session, SAID)
        await runner.drain()
    last = await Exchange.objects.aget(run__session=session)
    booking = await Booking.objects.aget(exchange=last)
    assert (last.outcome, last.prompt_tokens) == ("empty", 100)
    assert is_cut_off(last) == booking.cut_off == (not finish)
    assert not await sync_to_async(audited)(session)


@each_failure
async def test_retry_answers_when_the_fault_is_gone_and_nothing_is_lost(
    ask: Ask, runner: Runner, transport: TroubledTransport, row: Row
) -> None:
    transport.fault = row.fault
    failed = await ask(SAID)
    before = await answers()
    transport.fault = ""
    again = await retried(runner, failed)
    assert again.status == Run.Status.COMPLETED
    assert again.trigger_id == failed.trigger_id and again.trigger and again.trigger.text == SAID
    *kept, new = await answers()
    assert [turn.pk for turn in kept] == [turn.pk for turn in before]
    assert new.text and not new.cut and new.parent_id == failed.trigger_id


@each_failure
async def test_without_a_retry_the_next_message_is_answered_too(
    ask: Ask, transport: TroubledTransport, row: Row
) -> None:
    transport.fault = row.fault
    await ask(SAID)
    transport.fault = ""
    run = await ask("And now?")
    assert run.status == Run.Status.COMPLETED
    assert await Turn.objects.filter(kind=TurnKind.USER_TASK, text=SAID).acount() == 1


@pytest.mark.parametrize("name", HARMLESS)
async def test_odd_framing_changes_nothing(ask: Ask, transport: TroubledTransport, name: str) -> None:
    transport.fault = f"wire {name}"
    run = await ask(SAID)
    (answer,) = await answers()
    assert (run.status, run.outcome) == (Run.Status.COMPLETED, "complete")
    assert SAID in answer.text and not answer.cut and answer.parts[-1].signature


async def test_a_cut_answer_is_complete_as_a_run_and_says_why_it_ends(
    ask: Ask, transport: TroubledTransport, session: Session
) -> None:
    await Session.objects.filter(pk=session.pk).aupdate(settings={"continue_cut": False})
    transport.fault = "maxtokens"
    run = await ask(SAID)
    ending = Ending.of(run, await exchanges(run))
    (answer,) = await answers()
    assert run.status == Run.Status.COMPLETED and answer.cut and answer.text
    assert ending and ending.kind == "note" and ending.hint


async def test_a_fault_that_passes_is_never_seen(ask: Ask) -> None:
    run = await ask("/error 503 once")
    first, second = await exchanges(run)
    assert run.status == Run.Status.COMPLETED and Ending.of(run, [first, second]) is None
    assert first.error["kind"] == "ProviderDown" and second.resend_of_id == first.pk
