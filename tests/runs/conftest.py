"""A session, and a runner before the emulator."""

import uuid
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.db import connections

from pipeweb.composition import build_emulator, build_runner
from sessions_app.emulator import Emulator
from sessions_app.models import Run, Session
from sessions_app.runs.patience import Patience
from sessions_app.runs.runner import Runner

Ask = Callable[[str], Awaitable[Run]]


@pytest.fixture
def session(transactional_db: None, alice: User) -> Session:
    return Session.objects.create(owner=alice, model="gemini-3-flash-preview", purpose="Try everything.")


@pytest.fixture
async def runner(session: Session) -> AsyncIterator[Runner]:
    gateway = build_emulator(Emulator(delay=0))
    runner = build_runner(gateway, Patience(base=0.01, longest=1))
    yield runner
    await runner.shutdown()
    await gateway.aclose()
    # The thread that did the database work keeps its connection, which PostgreSQL would not let be dropped.
    await sync_to_async(connections.close_all)()


@pytest.fixture
def ask(runner: Runner, session: Session) -> Ask:
    """Sends a message and answers the run when everything is over."""

    async def send(text: str) -> Run:
        client_id = uuid.uuid4()
        await runner.send(session.pk, client_id, text)
        await runner.drain()
        return await Run.objects.select_related("session", "trigger").aget(client_id=client_id)

    return send
