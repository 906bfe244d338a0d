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
    assert {note["code"] for note in exchange.notes} <= {
        "signature_removed",
        "signature_part_dropped",
        "unsigned_answer",
    }
    assert b"thoughtSignature" not in await sync_to_async(exchange.request_body)()


async def test_tools_work_in_the_new_route_and_are_signed_by_it(ask: Ask, session: Session) -> None:
    await ask("Hello")
    run = await ask_elsewhere(session, "What time is it?")
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


FLIGHT = "Check flight status for AA100 and book a taxi 2 hours before if delayed."


async def switch(session: Session, model: str) -> None:
    await Session.objects.filter(pk=session.pk).aupdate(model=model)


async def test_another_model_is_another_route(ask: Ask, session: Session) -> None:
    await ask(FLIGHT)
    await switch(session, "gemini-3.1-pro-preview")
    run = await ask("Hello")
    exchange = await Exchange.objects.aget(run=run)
    assert run.status == Run.Status.COMPLETED
    assert exchange.route.endswith("/gemini-3.1-pro-preview")
    assert b"thoughtSignature" not in await sync_to_async(exchange.request_body)()


async def test_an_alias_and_the_model_behind_it_share_signatures(ask: Ask, session: Session) -> None:
    await switch(session, "gemini-flash-latest")
    await ask("Hello")
    await switch(session, "gemini-3.6-flash")
    run = await ask("And now?")
    exchange = await Exchange.objects.aget(run=run)
    assert (await sync_to_async(exchange.request_body)()).count(b"thoughtSignature") == 1


async def test_the_model_that_answered_decides_whose_signatures_these_are(ask: Ask, session: Session) -> None:
    """The table expects 3.6 behind this name; the emulator answers as 3.5."""
    await switch(session, "gemini-3.5-flash")
    run = await ask(FLIGHT)
    routes = [exchange.route async for exchange in Exchange.objects.filter(run=run)]
    assert [route.partition("/")[2] for route in routes] == ["gemini-3.6-flash", *["gemini-3.5-flash"] * 2]
    last = await Exchange.objects.filter(run=run).alast()
    assert last is not None and (await sync_to_async(last.request_body)()).count(b"thoughtSignature") == 2
    (check,) = (stage for stage in last.stages if stage["name"] == "check")
    assert check["status"] == "noticed"
    assert (check["remarks"][0]["code"], check["remarks"][0]["served"]) == (
        "model_routed",
        "gemini-3.5-flash",
    )
