"""Another API key while the server runs."""

import asyncio

import pytest
from pytest_django import Settings

from pipeweb.composition import build_emulator
from sessions_app.emulator import Emulator
from sessions_app.gemini.gateway import Gateway
from sessions_app.hosts import EMULATOR
from sessions_app.models import Exchange, Run, Session
from tests.runs.running import Provider, running, send, watch

BASE = "https://provider.invalid"


async def test_the_next_run_uses_the_key_and_the_running_one_ends_where_it_began(
    session: Session, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    provider = Provider()
    provider.parts = [b'{"text":"From the provider."}']
    google = Gateway(api_key="another", base_url=BASE, transport=provider)
    monkeypatch.setattr("pipeweb.composition.build_gateway", lambda: google)
    async with running(build_emulator(Emulator(delay=0.05))) as runner:
        first = await send(runner, session, "Say something long")
        await watch(runner, session, first, until="delta")
        settings.GEMINI_API_KEY = "another"
        other = await Session.objects.acreate(owner_id=session.owner_id, model=session.model)
        second = await send(runner, other, "And you?")
        async with asyncio.timeout(60):
            await runner.drain()
        await google.aclose()
    assert await _base_urls(session) == {EMULATOR}
    assert await _base_urls(other) == {BASE}
    ends = {run.public: run.status async for run in Run.objects.all()}
    assert (ends[first], ends[second]) == (Run.Status.COMPLETED, Run.Status.COMPLETED)


async def test_the_same_key_keeps_the_engine(session: Session) -> None:
    async with running() as runner:
        assert runner.gateway is runner.gateway


async def _base_urls(session: Session) -> set[str]:
    return {row.base_url async for row in Exchange.objects.filter(run__session=session)}
