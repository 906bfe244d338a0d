"""What a process keeps of earlier requests changes no byte of the next one."""

import random
import sys
import uuid
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import pytest
from django.contrib.auth.models import User

from sessions_app.models import HistoryChunk, Run, Session, Turn
from sessions_app.models.byte_cache import ByteCache
from sessions_app.models.source import manifest_of
from sessions_app.models.stored_sources import source_keys, store_sources
from sessions_app.panels import TOOLBOX
from sessions_app.prompt.content_memory import Remembered
from sessions_app.prompt.signatures import signatures_of
from sessions_app.prompt.turns import user_task
from sessions_app.runs.request import Endpoint, PreparedRequest, prepare
from sessions_app.runs.request.context import RequestContext, StageLog
from sessions_app.runs.request.prepare import build
from sessions_app.runs.start import start_send
from tests import factories
from tests.runs.random_history import random_history

pytestmark = pytest.mark.django_db

ENDPOINT = Endpoint(
    "route-a", "Emulator", "gemini", has_explicit_caches=True, wire_body=lambda model, body: body
)
ROUTE = "route-a/gemini-3-flash-preview"

Captured = Callable[..., object]


def memories() -> Iterator[Remembered[Any, object] | ByteCache[str, object]]:
    """All that the process keeps for its next requests."""
    modules = [module for name, module in sys.modules.items() if name.startswith("sessions_app.")]
    for module in filter(lambda one: isinstance(one, ModuleType), modules):
        yield from (one for one in vars(module).values() if isinstance(one, Remembered | ByteCache))


def forget_all() -> None:
    for memory in memories():
        memory.forget() if isinstance(memory, Remembered) else memory.clear()


def sent(session: Session) -> tuple[Run, PreparedRequest]:
    run = start_send(session.pk, uuid.uuid4(), "And now?", "process")
    assert run is not None
    return run, prepare(run, 1, ENDPOINT, TOOLBOX)


def compare_with_cold(run: Run, warm: PreparedRequest) -> None:
    """Builds the request again as a process would that has just begun."""
    forget_all()
    cold = build(RequestContext.read(run, 1, ENDPOINT, TOOLBOX), StageLog())
    assert cold.payload.body == warm.payload.body == warm.exchange.request_body()
    assert cold.payload.items == warm.payload.items
    assert cold.payload.sha256 == warm.exchange.request_sha256
    assert [note.stored() for note in cold.notes] == warm.exchange.notes
    turns = [(turn.key, signatures_of(turn.wire)) for turn in cold.assembled.layers.turns]
    assert turns == [(turn.key, signatures_of(turn.wire)) for turn in warm.layers.turns]
    keys = store_sources(run.session, cold.payload.items)
    assert manifest_of(keys, cold.payload) == warm.exchange.manifest


def go_on(session: Session, chance: random.Random) -> None:
    """What may happen between two requests: answers, some with broken rounds, an edit, a refusal."""
    session.refresh_from_db()
    history = random_history(chance, ROUTE)
    for turn in history:
        if chance.random() < 0.95:
            Turn.append(session, turn, parent=session.head)
    turns = Turn.objects.branch(session.head_id)
    if chance.random() < 0.3:
        above = chance.choice(turns)
        Turn.append(session, user_task(str(uuid.uuid4()), "Said otherwise."), parent=above)
    if chance.random() < 0.3:
        Turn.objects.mark_refused(session.pk, [str(chance.choice(turns).public)], 1)


@pytest.mark.parametrize("seed", range(6))
def test_a_request_is_the_same_warm_and_cold(
    alice: User, seed: int, django_capture_on_commit_callbacks: Captured
) -> None:
    chance = random.Random(seed)
    session = factories.make_session(alice, settings={"cache_policy": "adaptive"})
    for _ in range(6):
        go_on(session, chance)
        with django_capture_on_commit_callbacks(execute=True):  # type: ignore[attr-defined]
            run, warm = sent(session)
            compare_with_cold(run, warm)
        run.end(Run.Status.COMPLETED)


def test_a_detached_history_is_the_same_warm_and_cold(
    alice: User, django_capture_on_commit_callbacks: Captured
) -> None:
    session = factories.make_session(alice, settings={"cache_policy": "seed"})
    for number in range(70):
        Turn.append(session, user_task(str(uuid.uuid4()), f"{number} " * 600), parent=session.head)
    for _ in range(2):
        with django_capture_on_commit_callbacks(execute=True):  # type: ignore[attr-defined]
            run, warm = sent(session)
            compare_with_cold(run, warm)
        assert HistoryChunk.objects.filter(session=session).exists()
        run.end(Run.Status.COMPLETED)


def test_sources_of_a_request_that_was_rolled_back_are_not_kept(alice: User) -> None:
    run, warm = sent(factories.make_session(alice))
    of = run.session.public.bytes
    named = [(of, 0, item.source, item.sha256, item.role, item.kind) for item in warm.payload.items]
    assert set(source_keys.find_all(named)) == {None}, "the test's transaction was not committed"
