"""Each HTTP request of a run is a row: what was refused with its body, what waited with its pause."""

import uuid
from typing import Any

import httpx2
import pytest
from asgiref.sync import sync_to_async
from django.utils import timezone

from sessions_app.emulator import Emulator, EmulatorTransport
from sessions_app.gemini.gateway import Gateway
from sessions_app.gemini.openai_gateway import OpenAIGateway
from sessions_app.models import Blob, Exchange, ExchangeAttempt, Run, Session
from sessions_app.models.exchange_attempt import AttemptRow, ExchangeAttemptQuerySet
from sessions_app.runs.recorder import close_run
from sessions_app.runs.retry_policy import RetryPolicy
from sessions_app.runs.writer import Writer
from tests.runs.refusing import is_generation
from tests.runs.running import running, send, watch

pytestmark = pytest.mark.django_db(transaction=True)

BUSY = b'{"error":{"code":429,"message":"Slow down. Try again in 0.2s."}}'


class BusyTransport(EmulatorTransport):
    """Refuses the first `refusals` requests."""

    def __init__(self, refusals: int) -> None:
        super().__init__(Emulator(delay=0))
        self._left = refusals

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        if is_generation(request) and self._left:
            self._left -= 1
            return httpx2.Response(429, content=BUSY, headers={"x-request-id": "r-9", "x-secret": "s"})
        return await super().handle_async_request(request)


async def sent(session: Session, gateway: Gateway, text: str = "Hello") -> Run:
    client_id = uuid.uuid4()
    async with running(gateway, RetryPolicy(tries=2, base=30, longest=60)) as runner:
        await runner.send(session.pk, client_id, text)
        await runner.drain()
    return await Run.objects.aget(client_id=client_id)


def attempts_of(session: Session) -> list[ExchangeAttempt]:
    found = ExchangeAttempt.objects.filter(exchange__session=session).select_related("exchange", "body")
    return list(found.order_by("exchange__number", "number"))


@pytest.mark.parametrize("kind", [Gateway, OpenAIGateway])
async def test_a_refused_request_and_the_next_are_stored_with_the_pause_between(
    session: Session, kind: type[Gateway]
) -> None:
    run = await sent(session, kind.to_emulator(BusyTransport(1)))
    first, second = await sync_to_async(attempts_of)(session)
    assert run.status == Run.Status.COMPLETED
    assert (first.exchange.number, first.number, first.status, first.waited_ms) == (1, 1, 429, 0)
    assert first.response_headers == [["x-request-id", "r-9"], ["content-length", str(len(BUSY))]]
    assert first.body is not None and first.body.bytes == BUSY
    assert (second.exchange.number, second.status, second.body) == (2, 200, None)
    assert 190 < second.waited_ms < 5_000
    assert first.total_ms == first.exchange.total_ms
    assert second.started_at > first.started_at


async def test_an_exchange_that_failed_in_the_end_says_how_long_it_took(session: Session) -> None:
    run = await sent(session, Gateway.to_emulator(BusyTransport(2)))
    assert run.status == Run.Status.FAILED
    attempts = await sync_to_async(attempts_of)(session)
    assert [one.status for one in attempts] == [429, 429]
    assert all(one.total_ms and one.total_ms == one.exchange.total_ms for one in attempts)


async def test_where_nothing_is_known_of_the_time_none_is_made_up(session: Session) -> None:
    run = await sent(session, Gateway.to_emulator(BusyTransport(2)))
    await ExchangeAttempt.objects.all().adelete()
    await Run.objects.filter(pk=run.pk).aupdate(status=Run.Status.RUNNING)
    await Exchange.objects.filter(number=2).aupdate(ended_at=None, total_ms=None)
    await sync_to_async(close_run)(run.pk, Run.Status.FAILED)
    assert (await Exchange.objects.aget(number=2)).total_ms is None


async def test_a_stopped_answer_has_its_attempt(session: Session) -> None:
    async with running(Gateway.to_emulator(EmulatorTransport(Emulator(delay=0.05)))) as runner:
        public = await send(runner, session, "/slow Hello")
        await watch(runner, session, public, until="delta")
        await runner.stop(session.pk, public)
        await runner.drain()
    (attempt,) = await sync_to_async(attempts_of)(session)
    assert (attempt.status, attempt.body) == (200, None)
    assert attempt.total_ms == attempt.exchange.total_ms and attempt.total_ms


async def test_an_answer_of_many_chunks_is_one_insert(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    inserted: list[int] = []
    append = ExchangeAttemptQuerySet.append

    def counting(rows: Any, added: Any) -> None:
        inserted.append(len(added))
        append(rows, added)

    monkeypatch.setattr(ExchangeAttemptQuerySet, "append", counting)
    await sent(session, Gateway.to_emulator(EmulatorTransport(Emulator(delay=0))), "/slow Hello")
    exchange = await Exchange.objects.aget()
    assert await exchange.chunks.acount() > 10
    assert inserted == [1]


async def test_erasing_the_session_takes_every_attempt_and_its_body(session: Session) -> None:
    await sent(session, Gateway.to_emulator(BusyTransport(1)))
    assert await Blob.objects.aexists()
    await sync_to_async((await Session.objects.aget(pk=session.pk)).erase)()
    assert not await ExchangeAttempt.objects.aexists() and not await Blob.objects.aexists()


async def test_the_body_of_a_refusal_outlives_a_look_for_unused_ones(session: Session) -> None:
    await sent(session, Gateway.to_emulator(BusyTransport(1)))
    await sync_to_async(Blob.objects.delete_unreferenced)(session.owner_id)
    (first, *_) = await sync_to_async(attempts_of)(session)
    assert first.body is not None and first.body.bytes == BUSY


async def test_attempts_of_an_erased_session_stop_no_others(session: Session) -> None:
    await sent(session, Gateway.to_emulator(EmulatorTransport(Emulator(delay=0))))
    exchange, writer = await Exchange.objects.aget(), Writer()
    await ExchangeAttempt.objects.all().adelete()
    rows = [
        ExchangeAttempt(exchange_id=pk, number=1, started_at=timezone.now())
        for pk in (exchange.pk + 99, exchange.pk)
    ]
    writer.add_attempts([AttemptRow(row, session.owner_id, b"") for row in rows])
    await writer.flush()
    await writer.close()
    assert [one.exchange_id for one in await sync_to_async(attempts_of)(session)] == [exchange.pk]
