"""A busy provider is asked again when it says so, in a header or in a sentence."""

import uuid

import httpx2
import pytest

from sessions_app.emulator import Emulator, EmulatorTransport
from sessions_app.gemini.gateway import Gateway
from sessions_app.gemini.openai_gateway import OpenAIGateway
from sessions_app.models import Run, Session
from sessions_app.runs.retry_policy import RetryPolicy
from tests.runs.refusing import error, is_generation
from tests.runs.running import running, watch


class BusyTransport(EmulatorTransport):
    """Answers the first request with an error."""

    def __init__(self, code: int, headers: dict[str, str], message: str = "Slow down.") -> None:
        super().__init__(Emulator(delay=0))
        self.answer = httpx2.Response(code, json=error(code, message), headers=headers)
        self.requests = 0

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        self.requests += is_generation(request)
        is_first = is_generation(request) and self.requests == 1
        return self.answer if is_first else await super().handle_async_request(request)


POLICY = RetryPolicy(base=30, longest=60)
"""Its own pause would outlast the test."""

SHORT = [
    (429, {"Retry-After": "0.2"}, ""),
    (503, {"Retry-After": "0.2"}, ""),
    (429, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "200ms"}, ""),
    (429, {}, "Please try again in 0.2s."),
]


@pytest.mark.parametrize("kind", [Gateway, OpenAIGateway])
@pytest.mark.parametrize(("code", "headers", "message"), SHORT)
async def test_the_next_request_waits_as_long_as_the_provider_says(
    session: Session, kind: type[Gateway], code: int, headers: dict[str, str], message: str
) -> None:
    transport, client_id = BusyTransport(code, headers, message), uuid.uuid4()
    async with running(kind.to_emulator(transport), POLICY) as runner:
        await runner.send(session.pk, client_id, "Hello")
        run = await Run.objects.aget(client_id=client_id)
        events = await watch(runner, session, run.public)
        await runner.drain()
    await run.arefresh_from_db()
    assert run.status == Run.Status.COMPLETED
    assert [event["wait"] for event in events if event.get("wait")] == [0.2]


@pytest.mark.parametrize("kind", [Gateway, OpenAIGateway])
async def test_a_longer_wait_is_left_to_the_person_with_the_time(
    session: Session, kind: type[Gateway]
) -> None:
    transport, client_id = BusyTransport(429, {"Retry-After": "3600"}), uuid.uuid4()
    async with running(kind.to_emulator(transport), POLICY) as runner:
        await runner.send(session.pk, client_id, "Hello")
        await runner.drain()
    run = await Run.objects.aget(client_id=client_id)
    assert (run.status, run.error["kind"]) == (Run.Status.FAILED, "QuotaExceeded")
    assert (run.error["retry_after"], transport.requests) == (3_600.0, 1)
