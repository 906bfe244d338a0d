"""A session, and a runner before the emulator."""

import uuid
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest
from django.contrib.auth.models import User

from sessions_app.gemini.gateway import Gateway
from sessions_app.models import PersonalLimits, Run, Session
from sessions_app.runs.runner import Runner
from sessions_app.tools import Toolbox
from tests.runs.rounds import Played, Rounds, Saboteur, Tally
from tests.runs.running import running

Ask = Callable[[str], Awaitable[Run]]


@pytest.fixture
def session(transactional_db: None, alice: User) -> Session:
    return Session.objects.create(owner=alice, model="gemini-3-flash-preview", purpose="Try everything.")


@pytest.fixture
async def runner(session: Session) -> AsyncIterator[Runner]:
    async with running() as runner:
        yield runner


@pytest.fixture
def ask(runner: Runner, session: Session) -> Ask:
    """Sends a message and answers the run when everything is over."""

    async def send(text: str) -> Run:
        client_id = uuid.uuid4()
        await runner.send(session.pk, client_id, text)
        await runner.drain()
        return await Run.objects.select_related("session", "trigger").aget(client_id=client_id)

    return send


@pytest.fixture
def tally() -> Tally:
    return Tally()


@pytest.fixture
async def played(session: Session, tally: Tally, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Played]:
    # A law sends more messages than a person does.
    await PersonalLimits.objects.acreate(everybody=True, sends_per_minute=100_000)
    saboteur, provider = Saboteur(), Rounds()
    saboteur.install(monkeypatch)
    monkeypatch.setattr("pipeweb.composition.TOOLBOX", Toolbox(tally.tools()))
    async with running(Gateway(api_key="test", transport=provider)) as runner:
        yield Played(runner, session, provider, saboteur)
