"""A key set after the emulator was used: another route, whose signatures must never be mixed."""

import uuid

from asgiref.sync import sync_to_async

from sessions_app.emulator import Emulator, EmulatorTransport
from sessions_app.gemini.gateway import Gateway
from sessions_app.models import Exchange, Run, Session
from tests.runs.conftest import Ask
from tests.runs.running import running


async def ask_elsewhere(session: Session, text: str) -> Run:
    """Asks a provider that refuses every signature but its own."""
    stranger = EmulatorTransport(Emulator(delay=0, secret=b"another house"))
    client_id = uuid.uuid4()
    async with running(Gateway(api_key="another-key", transport=stranger)) as runner:
        await runner.send(session.pk, client_id, text)
        await runner.drain()
    return await Run.objects.aget(client_id=client_id)


async def test_a_history_of_another_route_is_sent_without_its_signatures(ask: Ask, session: Session) -> None:
    await ask("Check flight status for AA100 and book a taxi 2 hours before if delayed.")
    run = await ask_elsewhere(session, "Hello")
    assert run.status == Run.Status.COMPLETED
    exchange = await Exchange.objects.aget(run=run)
    assert {note["action"] for note in exchange.notes if "action" in note} <= {"removed", "dropped"}
    assert b"thoughtSignature" not in await sync_to_async(exchange.request_body)()


async def test_tools_work_in_the_new_route_and_are_signed_by_it(ask: Ask, session: Session) -> None:
    await ask("Hello")
    run = await ask_elsewhere(session, "Check the weather in Paris and London.")
    assert run.status == Run.Status.COMPLETED
    last = await Exchange.objects.filter(run=run).order_by("-number").afirst()
    assert last is not None and b"thoughtSignature" in await sync_to_async(last.request_body)()


async def test_coming_back_uses_the_old_signatures_again(ask: Ask, session: Session) -> None:
    await ask("Hello")
    await ask_elsewhere(session, "Hello there")
    run = await ask("And back again?")
    exchange = await Exchange.objects.aget(run=run)
    assert run.status == Run.Status.COMPLETED
    assert (await sync_to_async(exchange.request_body)()).count(b"thoughtSignature") == 1
